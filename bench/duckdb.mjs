// SPDX-License-Identifier: Apache-2.0
// Queries of the bench in DuckDB, two threads: node duckdb.mjs QUERY FILE
// [TIMES], in a folder where "npm install @duckdb/node-api" was run. QUERY is
// count, several (STATS lines) or csv. Writes the rows to standard output; and
// to standard error the seconds of the fastest of TIMES runs inside of node,
// without its start.
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const { DuckDBInstance } = require('@duckdb/node-api');
const [kind, path, times] = process.argv.slice(2);
const file = path.replaceAll("'", "''");
// The fastest of several ways to say it: the lines as 14 columns, of which it
// reads those that the query names.
const names = Array.from({ length: 14 }, (_, i) => `'c${i + 1}': 'VARCHAR'`);
const stats = `FROM read_csv('${file}', columns = {${names.join(', ')}},
    delim = '|', header = false, quote = '', escape = '', auto_detect = false)
    WHERE c10 = 'MAPREDUCE:STATS' GROUP BY c11 ORDER BY c11`;
const took = 'CAST(substr(c14, 6) AS DOUBLE)';
const queries = {
    count: `SELECT substr(c11, 6), count(*) ${stats}`,
    several: `SELECT substr(c11, 6), count(*), sum(${took}), avg(${took}),
        min(${took}), max(${took}) ${stats}`,
    csv: `SELECT city, count(*), sum(n), max(price) FROM read_csv('${file}',
        columns = {'time': 'VARCHAR', 'city': 'VARCHAR', 'n': 'BIGINT',
        'price': 'DOUBLE', 'text': 'VARCHAR'}, header = true, delim = ',',
        quote = '', escape = '', auto_detect = false)
        GROUP BY city ORDER BY city`,
};
const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
let best = Infinity, reader;
for (let i = 0; i < Number(times ?? 1); i++) {
    const start = process.hrtime.bigint();
    reader = await connection.runAndReadAll(queries[kind]);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9);
}
for (const row of reader.getRows()) {
    console.log(row.join(','));
}
console.error(best.toFixed(4));
