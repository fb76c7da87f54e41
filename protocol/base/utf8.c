// SPDX-License-Identifier: Apache-2.0
//
// The well-formed sequences are those of Table 3-7 of the Unicode Standard. The first byte decides
// the length and the range of the second byte.
//
// What is not shown as it is (`hidden`) is that of the Unicode Character Database which is a
// control (Cc), a separator of lines (Zl, Zp), a bidirectional control (Bidi_Control), or ignored
// by fonts (Default_Ignorable_Code_Point), and the marks of annotations (U+FFF9 to U+FFFB). ZERO
// WIDTH JOINER and NON-JOINER are among them, which some scripts and emoji use: two names that look
// the same are worse than a name with U+FFFD in it. Combining marks are shown.
#include "protocol/base/utf8.h"

static const struct {
    uint32_t first, last;
    const char *instead;
} hidden[] = {
#define BLANK " "
#define MARK "\xEF\xBF\xBD"
#define NOTHING ""
    {0x00, 0x1F, BLANK},         // controls
    {0x7F, 0x9F, BLANK},         // DELETE, controls
    {0xAD, 0xAD, MARK},          // SOFT HYPHEN
    {0x34F, 0x34F, MARK},        // COMBINING GRAPHEME JOINER
    {0x61C, 0x61C, MARK},        // ARABIC LETTER MARK, a bidirectional control
    {0x115F, 0x1160, MARK},      // fillers of Hangul
    {0x17B4, 0x17B5, MARK},      // vowels of Khmer that are not drawn
    {0x180B, 0x180D, NOTHING},   // variation selectors of Mongolian
    {0x180E, 0x180E, MARK},      // MONGOLIAN VOWEL SEPARATOR
    {0x180F, 0x180F, NOTHING},   // variation selector of Mongolian
    {0x200B, 0x200F, MARK},      // zero width space, joiners, marks of direction
    {0x2028, 0x2029, BLANK},     // separators of lines and paragraphs
    {0x202A, 0x202E, MARK},      // embeddings and overrides of direction
    {0x2060, 0x206F, MARK},      // word joiner, invisible operators, isolates of direction
    {0x3164, 0x3164, MARK},      // HANGUL FILLER
    {0xFE00, 0xFE0F, NOTHING},   // variation selectors, also those of emoji
    {0xFEFF, 0xFEFF, MARK},      // ZERO WIDTH NO-BREAK SPACE, the byte order mark
    {0xFFA0, 0xFFA0, MARK},      // HALFWIDTH HANGUL FILLER
    {0xFFF0, 0xFFFB, MARK},      // ignored; marks of annotations
    {0x1BCA0, 0x1BCA3, MARK},    // format of shorthand
    {0x1D173, 0x1D17A, MARK},    // format of music
    {0xE0000, 0xE00FF, MARK},    // tags
    {0xE0100, 0xE01EF, NOTHING}, // variation selectors
    {0xE01F0, 0xE0FFF, MARK},    // ignored
#undef BLANK
#undef MARK
#undef NOTHING
};

static bool continues(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

size_t nvtxt_utf8_sequence(const char *data, size_t len) {
    if (len == 0) {
        return 0;
    }
    const unsigned char *p = (const unsigned char *)data;
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] < 0xC2 || p[0] > 0xF4 || len < 2) {
        return 0;
    }
    if (p[0] < 0xE0) {
        return continues(p[1]) ? 2 : 0;
    }

    unsigned char low = 0x80, high = 0xBF;
    if (p[0] == 0xE0) {
        low = 0xA0;
    } else if (p[0] == 0xED) {
        high = 0x9F;
    } else if (p[0] == 0xF0) {
        low = 0x90;
    } else if (p[0] == 0xF4) {
        high = 0x8F;
    }
    if (p[1] < low || p[1] > high || len < 3 || !continues(p[2])) {
        return 0;
    }
    if (p[0] < 0xF0) {
        return 3;
    }
    return len >= 4 && continues(p[3]) ? 4 : 0;
}

// A NUL or a byte from 0x81 sets the high bit of its place.
static uint64_t odd_bytes(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return (word - UINT64_C(0x0101010101010101)) | word;
}

// The last eight bytes may overlap those before.
bool nvtxt_is_plain_ascii(struct nvtxt_slice text) {
    const char *at = text.data, *end = at + text.len;
    uint64_t found = 0;
    if (text.len >= 8) {
        for (found = odd_bytes(end - 8); end - at > 8; at += 8) {
            found |= odd_bytes(at);
        }
    } else {
        for (; at < end; at++) {
            found |= (uint64_t)((unsigned char)(*at - 1) | (unsigned char)*at);
        }
    }
    return (found & UINT64_C(0x8080808080808080)) == 0;
}

bool nvtxt_utf8_valid(struct nvtxt_slice text) {
    size_t i = 0;
    while (i < text.len) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        if (n == 0) {
            return false;
        }
        i += n;
    }
    return true;
}

size_t nvtxt_utf8_repair(char *out, struct nvtxt_slice text) {
    size_t written = 0;
    for (size_t i = 0; i < text.len;) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        if (n == 0) {
            memcpy(out + written, "\xEF\xBF\xBD", 3);
            written += 3;
            i++;
            continue;
        }
        memcpy(out + written, text.data + i, n);
        written += n;
        i += n;
    }
    return written;
}

// ---- For people ---------------------------------------------------------------------------------

uint32_t nvtxt_utf8_point(const char *data, size_t len) {
    static const unsigned char lead[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t point = (unsigned char)data[0] & lead[len];
    for (size_t i = 1; i < len; i++) {
        point = point << 6 | ((unsigned char)data[i] & 0x3F);
    }
    return point;
}

size_t nvtxt_utf8_put(char *to, uint32_t point) {
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(leads[more] | point >> 6 * more);
    for (size_t i = 1; i <= more; i++) {
        to[i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3F));
    }
    return more + 1;
}

size_t nvtxt_utf8_shown(struct nvtxt_slice text, struct nvtxt_slice *shown) {
    size_t len = nvtxt_utf8_sequence(text.data, text.len);
    if (len == 0) {
        *shown = NVTXT_SLICE("\xEF\xBF\xBD");
        return 1;
    }
    *shown = (struct nvtxt_slice){text.data, len};
    uint32_t point = nvtxt_utf8_point(text.data, len);
    if (point >= ' ' && point <= '~') {
        return 1;
    }
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && point >= hidden[i].first; i++) {
        if (point <= hidden[i].last) {
            *shown = nvtxt_slice_of(hidden[i].instead);
        }
    }
    return len;
}

size_t nvtxt_utf8_shown_in_lines(struct nvtxt_slice text, struct nvtxt_slice *shown) {
    char byte = text.data[0];
    bool ends = byte == '\n' || (byte == '\r' && text.len > 1 && text.data[1] == '\n');
    *shown = (struct nvtxt_slice){text.data, 1};
    return ends || byte == '\t' ? 1 : nvtxt_utf8_shown(text, shown);
}

size_t nvtxt_utf8_show(char *out, size_t size, struct nvtxt_slice text) {
    size_t len = 0;
    for (struct nvtxt_slice shown; text.len > 0;) {
        size_t taken = nvtxt_utf8_shown(text, &shown);
        if (len + shown.len >= size) {
            break;
        }
        memcpy(out + len, shown.data, shown.len);
        len += shown.len;
        text.data += taken;
        text.len -= taken;
    }
    out[len] = '\0';
    return len;
}

// ---- Columns ------------------------------------------------------------------------------------

struct points {
    uint32_t first, last;
};

// Marks that combine with the character before them, by blocks of the scripts that have many.
static const struct points combining[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
    {0x6D6, 0x6DC},   {0x93C, 0x93C},   {0x941, 0x948},   {0x94D, 0x94D},   {0xE31, 0xE31},
    {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F},
};

static const struct points wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},
    {0x2614, 0x2615},   {0x26A1, 0x26A1},   {0x2705, 0x2705},   {0x274C, 0x274C},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},
    {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static bool has_point(const struct points *ranges, size_t count, uint32_t point) {
    size_t i = 0;
    while (i < count && point > ranges[i].last) {
        i++;
    }
    return i < count && point >= ranges[i].first;
}

size_t nvtxt_utf8_columns(uint32_t point) {
    if (point < combining[0].first) {
        return 1;
    }
    return has_point(combining, sizeof(combining) / sizeof(combining[0]), point) ? 0
           : has_point(wide, sizeof(wide) / sizeof(wide[0]), point)              ? 2
                                                                                 : 1;
}
