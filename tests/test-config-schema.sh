# SPDX-License-Identifier: Apache-2.0
# The JSON schema: what is shipped is what the table says; the sample
# configurations, the defaults and a dump of everything are valid; and for
# each key what the schema refuses --check-config refuses, and the other way
# round.
. ./functions.sh || exit 99
requires_program dserver
requires python3
python3 -c 'import jsonschema' 2>/dev/null || skip 'needs python3-jsonschema'

server=$(program_path dserver)
"$server" --dump-schema > schema.json
cmp "$top_srcdir/contrib/dtail.schema.json" schema.json ||
    fail "a key is new or different: dserver --dump-schema > contrib/dtail.schema.json"
"$server" --cfg none --dump-config > defaults.json
cp "$top_srcdir/core/test-config-go.json" go.json
"$server" --cfg go.json --dump-config > go-dump.json

cat > check.py <<'END'
import copy, json, subprocess, sys
import jsonschema

server, samples = sys.argv[1], sys.argv[2:]
schema = json.load(open('schema.json'))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for sample in samples:
    for e in validator.iter_errors(json.load(open(sample))):
        sys.exit('%s: %s: %s' % (sample, list(e.absolute_path), e.message))

def accepted(config):
    with open('try.json', 'w') as f:
        json.dump(config, f)
    done = subprocess.run([server, '--cfg', 'try.json', '--check-config'],
                          capture_output=True, text=True)
    assert done.returncode in (0, 2), done
    return done.returncode == 0, done.stderr

tried = 0
def compare(path, config):
    global tried
    tried += 1
    good, said = accepted(config)
    valid = validator.is_valid(config)
    if good != valid:
        sys.exit('%s: schema %s, --check-config %s %s' %
                 (json.dumps(config), valid, good, said))
    return good

def values(s):
    kinds = s.get('type')
    if not kinds:
        return []
    some = [7, 'text', True, [], {}, None, 1.5, ['x'], {'x': 1}, -1, '']
    for key in ('minimum', 'maximum'):
        if key in s:
            some += [s[key], s[key] + 1, s[key] - 1]
    for key in ('minLength', 'maxLength'):
        if key in s:
            some += ['x' * n for n in (s[key], s[key] + 1, s[key] - 1) if n >= 0]
    if 'pattern' in s:
        some += ['Daily', 'INFO', 'fout', 'nope']
    if 'maxItems' in s and s['maxItems'] < 2000:
        some += [['x'] * s['maxItems'], ['x'] * (s['maxItems'] + 1)]
    if isinstance(s.get('items'), list):
        some += [[1, 24], [25, 1], ['a'], [1.5, 2], [3]]
    return some

job = {'Name': 'n', 'Files': 'f', 'Query': 'q', 'Outfile': 'o'}
# Checked beyond types by their own code, which a schema cannot.
beyond = ('FailurePenaltyExempt', 'KeyExchanges', 'Ciphers', 'MACs', 'HostKeyAlgorithms',
          'PublicKeyAlgorithms', 'Schedule', 'Continuous', 'Outfile', 'Grant')

def walk(s, wrap, name):
    here = set()
    for value in values(s):
        if name in beyond and isinstance(value, (list, str)) and value:
            continue
        here.add(compare(name, wrap(value)))
    if s.get('type') and s['type'] != 'object' and here != {True, False}:
        sys.exit('%s: every value is %s' % (name, here))
    inner = list(s.get('properties', {}).items())
    if name in ('Remote', 'Client', 'Server', 'Common', 'MaprTable'):
        # groups of colours: all members are alike
        inner = [i for i in inner if not i[0].endswith(('Fg', 'Bg', 'Attr'))
                 or i[0] == 'TextFg']
    for key, sub in inner:
        walk(sub, lambda v, k=key, w=wrap: w({k: v}), key)
    if 'properties' in s and s.get('additionalProperties') is False:
        assert not compare(name, wrap({'NoSuchKey': 1}))
    extra = s.get('additionalProperties')
    if isinstance(extra, dict):
        walk(extra, lambda v, w=wrap: w({'name': v}), name)
    if isinstance(s.get('items'), dict) and 'properties' in s['items']:
        def element(v, w=wrap):
            if isinstance(v, dict):
                v = {**job, **v}
            return w([v])
        for key, sub in s['items']['properties'].items():
            if sub.get('type'):
                walk(sub, lambda v, k=key: element({k: v}), key)
        assert not compare(name, wrap([{'Files': 'no name'}]))

walk(schema, lambda v: v, 'settings')
print(tried)
END
tried=$(python3 check.py "$server" "$top_srcdir/contrib/dtail.json" \
    "$top_srcdir/core/test-config-go.json" defaults.json go-dump.json) ||
    fail "the schema and --check-config differ"
[ "$tried" -gt 500 ] || fail "only $tried values were tried"
