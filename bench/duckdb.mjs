// SPDX-License-Identifier: Apache-2.0
// The query of map-several in DuckDB, two threads: node duckdb.mjs FILE, in a
// folder where "npm install @duckdb/node-api" was run.
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const { DuckDBInstance } = require('@duckdb/node-api');
const file = process.argv[2].replaceAll("'", "''");
const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
const reader = await connection.runAndReadAll(`
    SELECT host, count(*), sum(took), avg(took), min(took), max(took) FROM (
        SELECT substr(columns[11], 6) AS host,
            CAST(substr(columns[14], 6) AS DOUBLE) AS took
        FROM (SELECT string_split(line, '|') AS columns FROM read_csv('${file}',
            columns = {'line': 'VARCHAR'}, delim = '\x01', header = false,
            quote = '', escape = '', auto_detect = false))
        WHERE columns[10] = 'MAPREDUCE:STATS')
    GROUP BY host ORDER BY host`);
for (const row of reader.getRows()) {
    console.log(row.join(','));
}
