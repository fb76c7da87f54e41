// SPDX-License-Identifier: Apache-2.0
//
// Tables in each format, by the kinds of their columns; and numbers as texts.
#include "report/table/write.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "report/table/number.h"

static char text[4096];

static const struct report_column columns[] = {
    {"Name", REPORT_COLUMN_TEXT},   {"Total (ns)", REPORT_COLUMN_NUMBER},
    {"Id", REPORT_COLUMN_ID},       {"Label", REPORT_COLUMN_LABEL},
    {"Value", REPORT_COLUMN_VALUE}, {"Mixed", REPORT_COLUMN_MIXED},
};

// A row of all kinds, one that ends early, and one without anything.
static struct report_table *make_table(void) {
    static struct report_table table;
    report_table_init(&table, "t", columns, 6);
    struct report_cell *cells = report_table_row(&table);
    cells[0] = report_cell_text(NVTXT_SLICE("a|b"));
    cells[1] = report_cell_int(-1234567);
    cells[2] = report_cell_uint(1234);
    cells[3] = report_cell_text(NVTXT_SLICE("l"));
    cells[4] = report_cell_text(NVTXT_SLICE("1.5 ms"));
    cells[5] = report_cell_text(NVTXT_SLICE("see @section:S:there@"));
    cells = report_table_row(&table);
    cells[1] = report_cell_real(0.25);
    cells[5] = report_cell_real(12345.5);
    cells = report_table_row(&table);
    cells[2] = report_cell_uint(7);
    report_table_row(&table);
    return &table;
}

static void show(const struct report_table_view *view, char format) {
    struct nvtxt_out out;
    struct report_json json;
    struct report_table *table = make_table();
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    report_json_init(&json, &out);
    switch (format) {
    case 't':
        report_table_text(&out, table, view);
        break;
    case 'm':
        report_table_markdown(&out, table, view);
        break;
    case 'j':
        report_table_json_rows(&json, "titles", table, view);
        break;
    case 'l':
        report_table_lines(&out, table, view);
        break;
    default:
        report_table_separated(&out, table, view, format);
    }
    cr_assert_eq(out.error, 0);
    memcpy(text, out.data, out.len);
    text[out.len] = '\0';
    nvtxt_out_deinit(&out);
    report_table_deinit(table);
}

#define SHOWS(expected) cr_assert_str_eq(text, expected, "%s", text)

Test(table, as_text_aligns_each_kind_of_column) {
    show(&(struct report_table_view){.unit_ns = 1}, 't');
    SHOWS("** t:\n\n"
          "Name  Total (ns)    Id  Label   Value  Mixed\n"
          "----  ----------  ----  -----  ------  ---------\n"
          "a|b   -1,234,567  1234  l      1.5 ms  see there\n"
          "             0.2                         12345.5\n"
          "                     7\n"
          "\n");
}

Test(table, within_other_text_has_titles_and_no_headline) {
    show(&(struct report_table_view){.unit_ns = 1000, .place = REPORT_TABLE_WITHIN, .indent = 3},
         't');
    SHOWS("   Name  Total (us)    Id  Label   Value  Mixed\n"
          "   a|b     -1,234.6  1234  l      1.5 ms  see there\n"
          "                0.0                         12345.5\n"
          "                        7\n"
          "\n");
}

Test(table, alone_has_rows_and_leaves_out_empty_ones) {
    show(&(struct report_table_view){.place = REPORT_TABLE_BARE, .indent = 1}, 't');
    SHOWS(" a|b  -1,234,567  1234  l  1.5 ms  see there\n"
          "             0.2                     12345.5\n"
          "                     7\n");
}

Test(table, as_markdown_escapes_and_needs_titles) {
    show(&(struct report_table_view){.place = REPORT_TABLE_BARE, .indent = 2}, 'm');
    SHOWS("  | Name | Total (ns) | Id | Label | Value | Mixed |\n"
          "  | --- | ---: | ---: | --- | ---: | --- |\n"
          "  | a\\|b | -1,234,567 | 1234 | l | 1.5 ms | see there |\n"
          "  |  | 0.2 |  |  |  | 12345.5 |\n"
          "  |  |  | 7 |  |  |  |\n"
          "  |  |  |  |  |  |  |\n");
}

Test(table, for_programs_has_all_digits) {
    show(&(struct report_table_view){.unit_ns = 1000}, ',');
    SHOWS("Name,Total (us),Id,Label,Value,Mixed\n"
          "a|b,-1234.567,1234,l,1.5 ms,see @section:S:there@\n"
          ",0.00025,,,,12345.5\n"
          ",,7,,,\n"
          ",,,,,\n");
    show(&(struct report_table_view){.unit_ns = 1000000}, 'j');
    SHOWS("\"titles\":[\"Name\",\"Total (ms)\",\"Id\",\"Label\",\"Value\",\"Mixed\"],\"rows\":["
          "[\"a|b\",-1.234567,1234,\"l\",\"1.5 ms\",\"see @section:S:there@\"],"
          "[null,2.5e-07,null,null,null,12345.5],[null,null,7,null,null,null],"
          "[null,null,null,null,null,null]]");
    show(&(struct report_table_view){.unit_ns = 1}, 'l');
    cr_assert(strncmp(text, "a|b -1234567 1234 l 1.5 ms see @", 32) == 0, "%s", text);
}

Test(table, cuts_names_but_no_labels) {
    static char name[302];
    struct nvtxt_out out;
    struct report_table table;
    memset(name, 'n', 301);
    for (size_t i = 0; i < 2; i++) {
        const struct report_column column = {"c", i ? REPORT_COLUMN_LABEL : REPORT_COLUMN_TEXT};
        cr_assert_eq(nvtxt_out_init(&out, -1), 0);
        report_table_init(&table, NULL, &column, 1);
        report_table_row(&table)[0] = report_cell_text(nvtxt_slice_of(name));
        report_table_text(&out, &table, &(struct report_table_view){.place = REPORT_TABLE_BARE});
        cr_assert_eq(out.len, i ? 302 : 200 + strlen("\xE2\x80\xA6 (301 characters)\n"));
        nvtxt_out_deinit(&out);
        report_table_deinit(&table);
    }
}

Test(table, that_failed_fails_its_output) {
    struct nvtxt_out out;
    struct report_table table;
    report_table_init(&table, NULL, columns, 6);
    cr_assert_not_null(report_table_row(&table));
    table.failed = true;
    cr_assert_null(report_table_row(&table));
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    report_table_markdown(&out, &table, &(struct report_table_view){.unit_ns = 1});
    cr_assert_lt(out.error, 0);
    nvtxt_out_deinit(&out);
    report_table_deinit(&table);
}

Test(table, draws_bars_up_to_the_largest_value) {
    cr_assert_eq(report_cell_bar(10, 10).text_len, REPORT_BAR);
    cr_assert_eq(report_cell_bar(20, 10).text_len, REPORT_BAR);
    cr_assert_eq(report_cell_bar(5, 10).text_len, REPORT_BAR / 2);
    cr_assert_eq(report_cell_bar(0.01, 10).kind, REPORT_CELL_EMPTY);
    cr_assert_eq(report_cell_bar(-1, 10).kind, REPORT_CELL_EMPTY);
    cr_assert_eq(report_cell_bar(1, 0).kind, REPORT_CELL_EMPTY);
}

#define NUMBER(function, expected, ...)                                                            \
    do {                                                                                           \
        char number_[REPORT_NUMBER];                                                               \
        size_t len_ = function(number_, __VA_ARGS__);                                              \
        cr_expect_str_eq(number_, expected);                                                       \
        cr_expect_eq(len_, strlen(number_));                                                       \
    } while (0)

Test(number, groups_digits) {
    NUMBER(report_number_uint, "18,446,744,073,709,551,615", UINT64_MAX);
    NUMBER(report_number_int, "-123,456", -123456);
    NUMBER(report_number_int, "999", 999);
    NUMBER(report_number_real, "1,000,000,000,000,000.5", 1e15 + 0.5);
    NUMBER(report_number_real, "-0.0", -0.04);
}

Test(number, of_what_is_not_finite_is_a_word) {
    NUMBER(report_number_real, "nan", NAN);
    NUMBER(report_number_short, "-inf", -INFINITY, 3);
    NUMBER(report_number_rounded, "inf", INFINITY);
    cr_expect_null(report_number_word(1e308));
}

Test(number, has_no_zeros_at_its_end) {
    NUMBER(report_number_short, "0.5", 0.5, 3);
    NUMBER(report_number_short, "100", 100, 3);
    NUMBER(report_number_short, "0", -0.0001, 3);
    NUMBER(report_number_short, "-0.001", -0.001, 3);
    NUMBER(report_number_over, "1234.567", 1234567, 1000);
    NUMBER(report_number_over, "2.0", 2000000000, 1000000000);
    NUMBER(report_number_over, "0.000000001", 1, 1000000000);
}

Test(number, is_rounded_to_three_decimals) {
    NUMBER(report_number_rounded, "1,234.568", 1234.5675);
    NUMBER(report_number_rounded, "-0.5", -0.5);
    NUMBER(report_number_rounded, "0.063", 0.0625);
    NUMBER(report_number_rounded, "1,000,000", 999999.9999);
    NUMBER(report_number_rounded, "8,999,999,999,999,999", 8999999999999999.0);
    NUMBER(report_number_rounded, "9000000000000000", 9e15);
    NUMBER(report_number_rounded, "-1.0000000000000001e+300", -1e300);
}

Test(number, may_have_more_than_64_bits) {
    char digits[REPORT_NUMBER_WIDE];
    unsigned __int128 most = ~(unsigned __int128)0;
    cr_expect(nvtxt_slice_equal(report_number_wide(digits, most),
                                NVTXT_SLICE("340282366920938463463374607431768211455")));
    cr_expect(nvtxt_slice_equal(report_number_wide(digits, 0), NVTXT_SLICE("0")));
}
