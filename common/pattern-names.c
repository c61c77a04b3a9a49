/* SPDX-License-Identifier: Apache-2.0
 *
 * The names that \p{...} accepts, as of Unicode 14 (RE2 2022-06-01).
 */
#include "pattern-names.h"

#include <stdlib.h>
#include <string.h>

/* Both in byte order, for bsearch. */
/* clang-format off */
static const char *const categories[] = {
    "C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc",
    "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi",
    "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs"};

static const char *const scripts[] = {
    "Adlam", "Ahom", "Anatolian_Hieroglyphs", "Arabic", "Armenian", "Avestan",
    "Balinese", "Bamum", "Bassa_Vah", "Batak", "Bengali", "Bhaiksuki",
    "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid",
    "Canadian_Aboriginal", "Carian", "Caucasian_Albanian", "Chakma", "Cham",
    "Cherokee", "Chorasmian", "Common", "Coptic", "Cuneiform", "Cypriot",
    "Cypro_Minoan", "Cyrillic", "Deseret", "Devanagari", "Dives_Akuru",
    "Dogra", "Duployan", "Egyptian_Hieroglyphs", "Elbasan", "Elymaic",
    "Ethiopic", "Georgian", "Glagolitic", "Gothic", "Grantha", "Greek",
    "Gujarati", "Gunjala_Gondi", "Gurmukhi", "Han", "Hangul",
    "Hanifi_Rohingya", "Hanunoo", "Hatran", "Hebrew", "Hiragana",
    "Imperial_Aramaic", "Inherited", "Inscriptional_Pahlavi",
    "Inscriptional_Parthian", "Javanese", "Kaithi", "Kannada", "Katakana",
    "Kayah_Li", "Kharoshthi", "Khitan_Small_Script", "Khmer", "Khojki",
    "Khudawadi", "Lao", "Latin", "Lepcha", "Limbu", "Linear_A", "Linear_B",
    "Lisu", "Lycian", "Lydian", "Mahajani", "Makasar", "Malayalam", "Mandaic",
    "Manichaean", "Marchen", "Masaram_Gondi", "Medefaidrin", "Meetei_Mayek",
    "Mende_Kikakui", "Meroitic_Cursive", "Meroitic_Hieroglyphs", "Miao",
    "Modi", "Mongolian", "Mro", "Multani", "Myanmar", "Nabataean",
    "Nandinagari", "New_Tai_Lue", "Newa", "Nko", "Nushu",
    "Nyiakeng_Puachue_Hmong", "Ogham", "Ol_Chiki", "Old_Hungarian",
    "Old_Italic", "Old_North_Arabian", "Old_Permic", "Old_Persian",
    "Old_Sogdian", "Old_South_Arabian", "Old_Turkic", "Old_Uyghur", "Oriya",
    "Osage", "Osmanya", "Pahawh_Hmong", "Palmyrene", "Pau_Cin_Hau",
    "Phags_Pa", "Phoenician", "Psalter_Pahlavi", "Rejang", "Runic",
    "Samaritan", "Saurashtra", "Sharada", "Shavian", "Siddham", "SignWriting",
    "Sinhala", "Sogdian", "Sora_Sompeng", "Soyombo", "Sundanese",
    "Syloti_Nagri", "Syriac", "Tagalog", "Tagbanwa", "Tai_Le", "Tai_Tham",
    "Tai_Viet", "Takri", "Tamil", "Tangsa", "Tangut", "Telugu", "Thaana",
    "Thai", "Tibetan", "Tifinagh", "Tirhuta", "Toto", "Ugaritic", "Vai",
    "Vithkuqi", "Wancho", "Warang_Citi", "Yezidi", "Yi", "Zanabazar_Square"};

/* clang-format on */
struct key {
    const char *name;
    size_t len;
};

static int
compare(const void *a, const void *b)
{
    const struct key *key = a;
    const char *name = *(const char *const *)b;
    int order = strncmp(key->name, name, key->len);

    if (order == 0 && name[key->len] != '\0') {
        order = -1; /* the key is only a beginning */
    }
    return order;
}

bool
pattern_is_category(const char *name, size_t len)
{
    const struct key key = {name, len};

    return !memchr(name, '\0', len) &&
           bsearch(&key, categories, sizeof(categories) / sizeof(*categories),
                   sizeof(*categories), compare) != NULL;
}

bool
pattern_is_script(const char *name, size_t len)
{
    const struct key key = {name, len};

    return !memchr(name, '\0', len) &&
           bsearch(&key, scripts, sizeof(scripts) / sizeof(*scripts),
                   sizeof(*scripts), compare) != NULL;
}
