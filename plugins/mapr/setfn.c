/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the `set` clause.
 */
#include "setfn.h"

#include "numbers.h"

#include <math.h>

/* RFC 1321: floor(2^32 · |sin(i + 1)|). */
static const uint32_t md5_sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
    0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
    0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
    0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
    0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
    0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
    0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
    0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static const uint8_t md5_shifts[16] = {7, 12, 17, 22, 5, 9,  14, 20,
                                       4, 11, 16, 23, 6, 10, 15, 21};

static void
md5_block(uint32_t state[4], const unsigned char *p)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], w[16];

    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)p[4 * i] | (uint32_t)p[4 * i + 1] << 8 |
               (uint32_t)p[4 * i + 2] << 16 | (uint32_t)p[4 * i + 3] << 24;
    }
    for (int i = 0; i < 64; i++) {
        uint32_t f, t;
        int g, s = md5_shifts[i / 16 * 4 + i % 4];

        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d);
            g = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            g = (5 * i + 1) % 16;
            break;
        case 2:
            f = b ^ c ^ d;
            g = (3 * i + 5) % 16;
            break;
        default:
            f = c ^ (b | ~d);
            g = 7 * i % 16;
            break;
        }
        t = a + f + md5_sines[i] + w[g];
        a = d;
        d = c;
        c = b;
        b += t << s | t >> (32 - s);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void
setfn_md5(struct str s, char hex[32])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const unsigned char *p = (const unsigned char *)s.p;
    unsigned char last[128] = {0};
    size_t whole = s.n / 64 * 64, rest = s.n - whole;
    size_t size = rest < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)s.n * 8;

    for (size_t i = 0; i < whole; i += 64) {
        md5_block(state, p + i);
    }
    if (rest) {
        memcpy(last, p + whole, rest);
    }
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        last[size - 8 + i] = (unsigned char)(bits >> 8 * i);
    }
    for (size_t i = 0; i < size; i += 64) {
        md5_block(state, last + i);
    }
    for (int i = 0; i < 16; i++) {
        unsigned v = state[i / 4] >> 8 * (i % 4) & 0xff;

        hex[2 * i] = "0123456789abcdef"[v >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[v & 15];
    }
}

void
setfn_maskdigits(struct str s, char *out)
{
    for (size_t i = 0; i < s.n; i++) {
        out[i] = s.p[i] >= '0' && s.p[i] <= '9' ? '.' : s.p[i];
    }
}

/* Days from 1970-01-01, proleptic Gregorian. */
static int64_t
days_of(int64_t y, int64_t m, int64_t d)
{
    int64_t era, yoe, doy;

    y -= m <= 2;
    era = (y >= 0 ? y : y - 399) / 400;
    yoe = y - era * 400;
    doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void
date_of(int64_t days, int *y, int *m, int *d)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;

    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = (int)(yoe + era * 400 + (*m <= 2));
}

/* Reads the letters of `shape`: Y M D h m s are digits, T is T or a blank,
 * all else stands for itself. */
static bool
match_shape(struct str s, const char *shape, int v[6])
{
    static const char letters[] = "YMDhms";
    size_t n = strlen(shape);

    memset(v, 0, 6 * sizeof(*v));
    if (s.n < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr(letters, shape[i]);
        char c = s.p[i];

        if (at) {
            if (c < '0' || c > '9') {
                return false;
            }
            v[at - letters] = v[at - letters] * 10 + (c - '0');
        } else if (shape[i] == 'T' ? c != 'T' && c != ' ' : c != shape[i]) {
            return false;
        }
    }
    return v[1] >= 1 && v[1] <= 12 && v[2] >= 1 && v[2] <= 31 && v[3] < 24 &&
           v[4] < 60 && v[5] <= 60;
}

static int64_t
floor_to(int64_t x, int64_t width)
{
    int64_t rest = x % width;

    return x - (rest < 0 ? rest + width : rest);
}

/* What may stand behind the seconds: a fraction and a zone. */
static bool
take_zone(struct str rest, struct str *zone)
{
    size_t i = 0;

    if (rest.n && (rest.p[0] == '.' || rest.p[0] == ',')) {
        i = 1;
        while (i < rest.n && rest.p[i] >= '0' && rest.p[i] <= '9') {
            i++;
        }
    }
    zone->p = rest.p + i;
    zone->n = rest.n - i;
    if (zone->n > 8) {
        return false;
    }
    for (size_t j = 0; j < zone->n; j++) {
        if (!strchr("Z+-:0123456789 ", zone->p[j])) {
            return false;
        }
    }
    return true;
}

static size_t
bucket_number(struct str s, int64_t width, char *out)
{
    struct number x;
    double v;

    if (numbers_parse(s.p, s.n, &x) != NUMBERS_OK) {
        return 0;
    }
    v = floor(numbers_value(&x));
    if (!(fabs(v) < 9e15)) {
        return 0;
    }
    return (size_t)snprintf(out, SETFN_BUCKET_MAX, "%lld",
                            (long long)floor_to((int64_t)v, width));
}

size_t
setfn_bucket(struct str s, int64_t width, char out[SETFN_BUCKET_MAX])
{
    static const char *const shapes[] = {"YYYYMMDD-hhmmss", "MMDD-hhmmss",
                                         "YYYY-MM-DDThh:mm:ss",
                                         "YYYY/MM/DDThh:mm:ss"};
    struct str rest = {NULL, 0}, zone = {NULL, 0};
    int v[6], y, m, d, day;
    size_t shape = 0;
    int64_t t;

    for (; shape < 4; shape++) {
        size_t n = strlen(shapes[shape]);

        rest.p = s.p + n;
        rest.n = s.n - n;
        if (match_shape(s, shapes[shape], v) &&
            (shape < 2 ? rest.n == 0 : take_zone(rest, &zone))) {
            break;
        }
    }
    if (shape == 4) {
        return bucket_number(s, width, out);
    }
    if (shape == 1) {
        v[0] = 2000; /* a leap year: no date is out of range */
    }
    t = days_of(v[0], v[1], v[2]) * 86400 + v[3] * 3600 + v[4] * 60 + v[5];
    t = floor_to(t, width);
    date_of(floor_to(t, 86400) / 86400, &y, &m, &d);
    day = (int)(t - floor_to(t, 86400));
    switch (shape) {
    case 0:
        return (size_t)snprintf(out, SETFN_BUCKET_MAX,
                                "%04d%02d%02d-%02d%02d%02d", y, m, d,
                                day / 3600, day / 60 % 60, day % 60);
    case 1:
        return (size_t)snprintf(out, SETFN_BUCKET_MAX, "%02d%02d-%02d%02d%02d",
                                m, d, day / 3600, day / 60 % 60, day % 60);
    default:
        return (size_t)snprintf(out, SETFN_BUCKET_MAX,
                                "%04d%c%02d%c%02d%c%02d:%02d:%02d%.*s", y,
                                s.p[4], m, s.p[4], d, s.p[10], day / 3600,
                                day / 60 % 60, day % 60, (int)zone.n, zone.p);
    }
}
