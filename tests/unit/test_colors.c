// SPDX-License-Identifier: Apache-2.0
//
// Colours: the search needs the table of names to be sorted, so each name must be found. A sample
// of values is typed here a second time, from the CSS Color 4 page.
#include "protocol/lang/names.h"

#include <criterion/criterion.h>
#include <stdio.h>

// All names of CSS Color 4, and values of a sample (0: not checked).
static const struct {
    const char *name;
    uint32_t rgb;
} named[] = {
    {"aliceblue", 0xF0F8FF},
    {"antiquewhite", 0},
    {"aqua", 0x00FFFF},
    {"aquamarine", 0},
    {"azure", 0},
    {"beige", 0xF5F5DC},
    {"bisque", 0},
    {"black", 0x000000},
    {"blanchedalmond", 0},
    {"blue", 0x0000FF},
    {"blueviolet", 0x8A2BE2},
    {"brown", 0xA52A2A},
    {"burlywood", 0},
    {"cadetblue", 0},
    {"chartreuse", 0x7FFF00},
    {"chocolate", 0},
    {"coral", 0xFF7F50},
    {"cornflowerblue", 0},
    {"cornsilk", 0},
    {"crimson", 0xDC143C},
    {"cyan", 0x00FFFF},
    {"darkblue", 0x00008B},
    {"darkcyan", 0},
    {"darkgoldenrod", 0},
    {"darkgray", 0xA9A9A9},
    {"darkgreen", 0x006400},
    {"darkgrey", 0xA9A9A9},
    {"darkkhaki", 0},
    {"darkmagenta", 0},
    {"darkolivegreen", 0},
    {"darkorange", 0xFF8C00},
    {"darkorchid", 0},
    {"darkred", 0x8B0000},
    {"darksalmon", 0},
    {"darkseagreen", 0},
    {"darkslateblue", 0},
    {"darkslategray", 0x2F4F4F},
    {"darkslategrey", 0x2F4F4F},
    {"darkturquoise", 0},
    {"darkviolet", 0},
    {"deeppink", 0xFF1493},
    {"deepskyblue", 0},
    {"dimgray", 0x696969},
    {"dimgrey", 0x696969},
    {"dodgerblue", 0x1E90FF},
    {"firebrick", 0xB22222},
    {"floralwhite", 0},
    {"forestgreen", 0x228B22},
    {"fuchsia", 0xFF00FF},
    {"gainsboro", 0xDCDCDC},
    {"ghostwhite", 0},
    {"gold", 0xFFD700},
    {"goldenrod", 0},
    {"gray", 0x808080},
    {"green", 0x008000},
    {"greenyellow", 0},
    {"grey", 0x808080},
    {"honeydew", 0},
    {"hotpink", 0xFF69B4},
    {"indianred", 0},
    {"indigo", 0x4B0082},
    {"ivory", 0xFFFFF0},
    {"khaki", 0},
    {"lavender", 0xE6E6FA},
    {"lavenderblush", 0},
    {"lawngreen", 0},
    {"lemonchiffon", 0},
    {"lightblue", 0xADD8E6},
    {"lightcoral", 0},
    {"lightcyan", 0},
    {"lightgoldenrodyellow", 0xFAFAD2},
    {"lightgray", 0xD3D3D3},
    {"lightgreen", 0x90EE90},
    {"lightgrey", 0xD3D3D3},
    {"lightpink", 0},
    {"lightsalmon", 0},
    {"lightseagreen", 0},
    {"lightskyblue", 0},
    {"lightslategray", 0x778899},
    {"lightslategrey", 0x778899},
    {"lightsteelblue", 0},
    {"lightyellow", 0},
    {"lime", 0x00FF00},
    {"limegreen", 0},
    {"linen", 0},
    {"magenta", 0xFF00FF},
    {"maroon", 0x800000},
    {"mediumaquamarine", 0},
    {"mediumblue", 0},
    {"mediumorchid", 0},
    {"mediumpurple", 0},
    {"mediumseagreen", 0},
    {"mediumslateblue", 0},
    {"mediumspringgreen", 0x00FA9A},
    {"mediumturquoise", 0},
    {"mediumvioletred", 0xC71585},
    {"midnightblue", 0x191970},
    {"mintcream", 0},
    {"mistyrose", 0},
    {"moccasin", 0},
    {"navajowhite", 0},
    {"navy", 0x000080},
    {"oldlace", 0},
    {"olive", 0x808000},
    {"olivedrab", 0},
    {"orange", 0xFFA500},
    {"orangered", 0xFF4500},
    {"orchid", 0},
    {"palegoldenrod", 0},
    {"palegreen", 0},
    {"paleturquoise", 0},
    {"palevioletred", 0},
    {"papayawhip", 0xFFEFD5},
    {"peachpuff", 0},
    {"peru", 0xCD853F},
    {"pink", 0xFFC0CB},
    {"plum", 0},
    {"powderblue", 0},
    {"purple", 0x800080},
    {"rebeccapurple", 0x663399},
    {"red", 0xFF0000},
    {"rosybrown", 0},
    {"royalblue", 0x4169E1},
    {"saddlebrown", 0},
    {"salmon", 0xFA8072},
    {"sandybrown", 0},
    {"seagreen", 0},
    {"seashell", 0},
    {"sienna", 0xA0522D},
    {"silver", 0xC0C0C0},
    {"skyblue", 0x87CEEB},
    {"slateblue", 0},
    {"slategray", 0x708090},
    {"slategrey", 0x708090},
    {"snow", 0xFFFAFA},
    {"springgreen", 0},
    {"steelblue", 0x4682B4},
    {"tan", 0xD2B48C},
    {"teal", 0x008080},
    {"thistle", 0},
    {"tomato", 0xFF6347},
    {"turquoise", 0x40E0D0},
    {"violet", 0xEE82EE},
    {"wheat", 0xF5DEB3},
    {"white", 0xFFFFFF},
    {"whitesmoke", 0xF5F5F5},
    {"yellow", 0xFFFF00},
    {"yellowgreen", 0x9ACD32},
};

static uint32_t parsed(const char *text) {
    uint32_t argb = 0x12345678;
    cr_assert(nvtxt_color_parse(nvtxt_slice_of(text), &argb), "%s", text);
    return argb;
}

static void refuses(struct nvtxt_slice text) {
    uint32_t argb = 0x12345678;
    cr_assert_not(nvtxt_color_parse(text, &argb), "%.*s", (int)text.len, text.data);
    cr_assert_eq(argb, 0x12345678, "left alone");
}

Test(colors, has_all_names_opaque_and_with_their_values) {
    size_t count = sizeof(named) / sizeof(named[0]);
    cr_assert_eq(count, 148);
    for (size_t i = 0; i < count; i++) {
        uint32_t argb = parsed(named[i].name);
        cr_assert_eq(argb >> 24, 0xFF, "%s", named[i].name);
        if (named[i].rgb != 0) {
            cr_assert_eq(argb & 0xFFFFFF, named[i].rgb, "%s", named[i].name);
        }
    }
    cr_assert_eq(parsed("black"), 0xFF000000);
}

Test(colors, takes_gray_and_grey_for_the_same) {
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        char other[32];
        snprintf(other, sizeof(other), "%s", named[i].name);
        char *gray = strstr(other, "gray");
        if (!gray) {
            continue;
        }
        gray[2] = 'e';
        cr_assert_eq(parsed(other), parsed(named[i].name), "%s", other);
    }
}

Test(colors, ignores_the_case_of_names) {
    cr_assert_eq(parsed("RED"), 0xFFFF0000);
    cr_assert_eq(parsed("RebeccaPurple"), 0xFF663399);
    cr_assert_eq(parsed("LIGHTGOLDENRODYELLOW"), 0xFFFAFAD2);
}

Test(colors, reads_both_hexadecimal_forms) {
    cr_assert_eq(parsed("#123456"), 0xFF123456);
    cr_assert_eq(parsed("#abcdef"), 0xFFABCDEF);
    cr_assert_eq(parsed("#ABCDEF"), 0xFFABCDEF);
    cr_assert_eq(parsed("#00000000"), 0);
    cr_assert_eq(parsed("#80FfEe09"), 0x80FFEE09);
    cr_assert_eq(parsed("#FFFFFFFF"), 0xFFFFFFFF);
}

Test(colors, refuses_everything_else) {
    static const char *const others[] = {
        "",
        "#",
        "#12345",
        "#1234567",
        "#123456789",
        "#12345g",
        "123456",
        "##12345",
        "#12 456",
        "#-12345",
        "0xFF0000",
        "re",
        "redd",
        "r",
        " red",
        "red ",
        "dark gray",
        "none",
        "transparent",
        "currentcolor",
        "#fff",
        "lightgoldenrodyelloww",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "\xC3\xA4",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        refuses(nvtxt_slice_of(others[i]));
    }
    refuses(NVTXT_SLICE("red\0"));
    refuses(NVTXT_SLICE("\0"));
    refuses((struct nvtxt_slice){NULL, 0});
}
