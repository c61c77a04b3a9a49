/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of patterns: RE2, whose dialect we promise, must accept the same
 * patterns and match the same lines. Random patterns and random lines; seed
 * and amount by $TEST_SEED and $TEST_EFFORT. In C++, as RE2 is.
 */
#include <emmintrin.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <re2/re2.h>

extern "C" {
#include "match.h"
#include "test-random-pattern.h"
}

namespace
{

constexpr unsigned lines_each = 40;

struct counters {
    unsigned long patterns, refused, too_large, pairs, matched, expensive;
};

/* Go's view of a line: each byte that is not UTF-8 is U+FFFD. */
std::string
valid_utf8(const std::string &line)
{
    std::string out;

    for (size_t i = 0; i < line.size();) {
        size_t n = bytes_utf8_char(line.data() + i, line.data() + line.size());

        out.append(n ? line.substr(i, n) : "\xef\xbf\xbd");
        i += n ? n : 1;
    }
    return out;
}

/* What the matcher looks at: without the CR before the newline. */
std::string
content(const std::string &line)
{
    return !line.empty() && line.back() == '\r'
               ? line.substr(0, line.size() - 1)
               : line;
}

struct deleter {
    void operator()(struct match *m) const
    {
        match_free(m);
    }
    void operator()(struct match_state *s) const
    {
        match_state_free(s);
    }
};

class matcher
{
  public:
    int compile(const pattern_text &p, bool ignore_case, unsigned hooks,
                match_error *err)
    {
        const match_term term = {p.text, p.len, false};
        match_args args = {};
        match *m = nullptr;
        match_state *s = nullptr;

        args.terms = &term;
        args.nr_terms = 1;
        args.ignore_case = ignore_case;
        args.hooks = hooks;
        int status = match_compile(&args, &m, err);
        if (status == DT_OK) {
            compiled.reset(m);
            status = match_state_new(m, nullptr, nullptr, &s);
            state.reset(s);
        }
        return status;
    }

    int line(const std::string &text)
    {
        std::string whole = text + "\n" + std::string(BYTES_SLACK, 'a');

        return match_line(state.get(), whole.data(), text.size() + 1);
    }

    /* Which lines a block search finds; false: too expensive. */
    bool block(const std::vector<std::string> &lines, std::vector<bool> *found)
    {
        std::vector<size_t> starts;
        std::string text;
        size_t start, end, at = 0;
        int rc;

        for (const std::string &l : lines) {
            starts.push_back(text.size());
            text += l + "\n";
        }
        size_t len = text.size();
        text.append(BYTES_SLACK, 'a');
        found->assign(lines.size(), false);
        match_begin(state.get(), text.data(), len);
        while ((rc = match_next(state.get(), &start, &end)) == 1) {
            for (; at < lines.size() && starts[at] < end; at++) {
                (*found)[at] = starts[at] >= start;
            }
        }
        return rc == 0;
    }

  private:
    std::unique_ptr<match, deleter> compiled;
    std::unique_ptr<match_state, deleter> state;
};

void
complain(const pattern_text &p, bool ignore_case, const std::string &what)
{
    fprintf(stderr, "pattern %.*s%s: %s\n", static_cast<int>(p.len), p.text,
            ignore_case ? " (ignoring case)" : "", what.c_str());
}

/* RE2 looks for \B between the bytes of one character, too; Go does not. */
bool
is_re2_wrong(const pattern_text &p, const std::string &text)
{
    return strstr(p.text, "\\B") && !bytes_is_ascii(text.data(), text.size());
}

/* One pattern against some lines. */
bool
check(rng *r, counters *c)
{
    static const unsigned hooks[] = {0, MATCH_BY_BLOCK, MATCH_BY_FILTER,
                                     MATCH_NO_JIT | MATCH_BY_BLOCK};
    bool ignore_case = rng_below(r, 4) == 0, is_good = true;
    RE2::Options options;
    pattern_text p;
    match_error err;
    matcher m;

    random_pattern(r, &p);
    options.set_log_errors(false);
    options.set_case_sensitive(!ignore_case);
    options.set_max_mem(int64_t{64} << 20);
    RE2 re(re2::StringPiece(p.text, p.len), options);
    int status = m.compile(p, ignore_case, PICK(r, hooks), &err);
    c->patterns++;
    if (status == DT_ERR_LIMIT ||
        re.error_code() == RE2::ErrorPatternTooLarge) {
        c->too_large++;
        return true;
    }
    if (re.ok() != (status == DT_OK)) {
        complain(p, ignore_case,
                 re.ok() ? std::string("RE2 accepts it, we: ") + err.text
                         : "RE2 refuses it: " + re.error());
        return false;
    }
    if (!re.ok()) {
        c->refused++;
        return true;
    }
    std::vector<std::string> lines;
    for (unsigned i = 0; i < lines_each; i++) {
        pattern_text l;

        l.len = 0;
        random_line(r, &l, rng_below(r, 10) ? 10 : 60, rng_below(r, 3) == 0);
        lines.emplace_back(l.text, l.len);
    }
    std::vector<bool> found;
    bool has_found = m.block(lines, &found);
    for (unsigned i = 0; i < lines_each; i++) {
        std::string text = valid_utf8(content(lines[i]));
        bool want = RE2::PartialMatch(text, re);
        int got = m.line(lines[i]);

        c->pairs++;
        c->matched += want;
        if (is_re2_wrong(p, text)) {
            continue;
        }
        if (got < 0) {
            c->expensive++;
        } else if (got != want || (has_found && found[i] != want)) {
            complain(p, ignore_case,
                     (want ? "RE2 matches " : "RE2 does not match ") + text +
                         (got != want ? " (line)" : " (block)"));
            is_good = false;
        }
    }
    return is_good;
}

} // namespace

int
main()
{
    struct rng r = rng_new(31);
    unsigned long nr = test_effort(8000), nr_bad = 0;
    counters c = {};

    for (unsigned long i = 0; i < nr && nr_bad < 20; i++) {
        nr_bad += !check(&r, &c);
    }
    printf("# %lu patterns (%lu refused by both, %lu too large), %lu pairs, "
           "%lu matched, %lu too expensive\n",
           c.patterns, c.refused, c.too_large, c.pairs, c.matched, c.expensive);
    if (c.matched < c.pairs / 10 || c.expensive > c.pairs / 1000 ||
        c.refused > nr / 2) {
        fprintf(stderr, "the random patterns are no test\n");
        return 1;
    }
    return nr_bad != 0;
}
