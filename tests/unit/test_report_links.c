// SPDX-License-Identifier: Apache-2.0
//
// Links in texts of rules: where their targets end, and what is only text.
#include <criterion/criterion.h>
#include <stdio.h>

#include "protocol/base/buf.h"
#include "protocol/text/out.h"
#include "report/render/render.h"
#include "report/table/links.h"

// The pieces of a text: `before[KIND target line text]`.
static void pieces(const char *text, const char *expected) {
    static const char *const kinds[] = {"url", "section", "range", "time", "source", "none"};
    struct nvtxt_slice rest = nvtxt_slice_of(text), before;
    struct report_link link;
    struct nvtxt_buf got = {0};
    while (report_link_next(&rest, &before, &link)) {
        nvtxt_buf_add(&got, before.data, before.len);
        nvtxt_buf_add_string(&got, "[");
        nvtxt_buf_add_string(&got, kinds[link.kind]);
        nvtxt_buf_add_string(&got, " ");
        nvtxt_buf_add(&got, link.target.data, link.target.len);
        nvtxt_buf_add_string(&got, link.line.len > 0 ? " " : "");
        nvtxt_buf_add(&got, link.line.data, link.line.len);
        nvtxt_buf_add_string(&got, " ");
        nvtxt_buf_add(&got, link.text.data, link.text.len);
        nvtxt_buf_add_string(&got, "]");
    }
    nvtxt_buf_add(&got, before.data, before.len);
    nvtxt_buf_add(&got, "", 1);
    cr_assert_str_eq(got.data, expected);
    nvtxt_buf_deinit(&got);
}

Test(links, are_found_in_text) {
    pieces("see @url:https://a.b/c:here@ and @section:Stats:the section@.",
           "see [url https://a.b/c here] and [section Stats the section].");
    pieces("@range:4096:a@@time:-5:b@", "[range 4096 a][time -5 b]");
    pieces("@source:a.nvtxt:12:line 12@", "[source a.nvtxt 12 line 12]");
    pieces("", "");
}

static void written(const char *text, const char *expected) {
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    report_link_write(&out, nvtxt_slice_of(text), nvtxt_out_slice);
    cr_assert(nvtxt_slice_equal((struct nvtxt_slice){out.data, out.len}, nvtxt_slice_of(expected)));
    nvtxt_out_deinit(&out);
}

Test(links, do_not_begin_or_end_at_signs_of_others) {
    pieces("\xFFurl:https://a.b:c\xFF", "\xFFurl:https://a.b:c\xFF");
    pieces("x\xFFsection:A @range:5:the one@", "x\xFFsection:A [range 5 the one]");
    pieces("@range:5:n\xFF"
           "0@",
           "[range 5 n\xFF"
           "0]");
    written("\xFFurl:https://a.b:c\xFF@range:5:n\xFF"
            "0@ \xFF",
            "@url:https://a.b:c@n@0 @");
    cr_assert_eq(report_link_harmless('@'), REPORT_LINK_AT);
    cr_assert_eq(report_link_harmless('a'), 'a');
    cr_assert_neq(report_link_harmless(REPORT_LINK_AT), REPORT_LINK_AT);
}

Test(links, have_targets_with_colons) {
    pieces("@url:http://a:8080/x?y=1:text: more@", "[url http://a:8080/x?y=1 text: more]");
    pieces("@url:http://a/b:2 things@", "[url http://a/b 2 things]");
    pieces("@source:C:x:7:t@", "[source C:x 7 t]");
}

Test(links, of_other_schemes_are_text_only) {
    pieces("@url:javascript:alert(1):click@", "[none javascript:alert(1) click]");
    pieces("@url:file:///etc/passwd:x@", "[none file:///etc/passwd x]");
}

Test(links, of_the_web_have_the_address_on_either_side) {
    pieces("@url:the guide:https://a.b/c.html#d@", "[url https://a.b/c.html#d the guide]");
    pieces("@url:two: parts:http://a.b:80/c:d@", "[url http://a.b:80/c:d two: parts]");
    pieces("@url:https://a.b:https://c.d@", "[url https://a.b https://c.d]");
    pieces("@url:files:ftp://a.b/c@", "[none ftp://a.b/c files]");
    pieces("@url:https://a.b@", "[url https://a.b https://a.b]");
    pieces("@url:https://a.b:@", "[url https://a.b https://a.b]");
    pieces("@url:a text@", "[none a text a text]");
}

Test(links, without_a_text_show_their_target) {
    pieces("@section:Stats@ @section:Stats:@", "[section Stats Stats] [section Stats Stats]");
    pieces("@source:a.cu:12@ @source:a.cu:12:@",
           "[source a.cu 12 a.cu:12] [source a.cu 12 a.cu:12]");
    pieces("@source:a:b@", "[none a:b a:b]");
    pieces("@sass:140:the load@ @sass:140@", "[none 140 the load] [none 140 140]");
}

Test(links, that_only_look_like_one_stay) {
    pieces("a@b.c", "a@b.c");
    pieces("@range:x:a@", "@range:x:a@");
    pieces("@section::a@ @section:@", "@section::a@ @section:@");
    pieces("@url:@ @sass:@ @source:@", "@url:@ @sass:@ @source:@");
    pieces("@other:a:b@", "@other:a:b@");
    pieces("x@@section:S:t@", "x@[section S t]");
    pieces("@section:S:t", "@section:S:t");
}

// ---- Results as text ----------------------------------------------------------------------------

static void shown(const struct report_result *result, bool details, const char *expected) {
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    report_render_rule_text(&out, result, details, false, 0);
    nvtxt_out_bytes(&out, "", 1);
    cr_assert_str_eq(out.data, expected);
    nvtxt_out_deinit(&out);
}

Test(results, tell_their_statuses_apart) {
    static const char *const words[] = {"findings", "no issue", "not applicable: why",
                                        "failed: why", "not run: why"};
    for (int status = 0; status < 5; status++) {
        char expected[64];
        struct report_result result = {.identifier = NVTXT_SLICE("R"),
                                       .name = NVTXT_SLICE("N"),
                                       .status = (enum report_rule_status)status};
        if (status >= REPORT_RULE_NOT_APPLICABLE) {
            result.reason = NVTXT_SLICE("why");
        }
        snprintf(expected, sizeof(expected), "  R: %s\n", words[status]);
        shown(&result, false, expected);
    }
}

Test(results, show_messages_with_what_belongs_to_them) {
    struct report_rule_message messages[] = {
        {REPORT_LEVEL_OPTIMIZATION, NVTXT_SLICE("T"), NVTXT_SLICE("see @section:S:there@\n")}};
    struct report_speedup speedups[] = {{0, true, 12.34}};
    struct report_column columns[] = {{"a", REPORT_COLUMN_MIXED}, {"b", REPORT_COLUMN_MIXED}};
    struct report_cell cells[] = {report_cell_int(-1), {.kind = REPORT_CELL_EMPTY}};
    struct report_rule_table tables[] = {
        {.table = {.columns = columns, .column_count = 2, .row_count = 1, .cells = cells}}};
    struct report_focus_metric focus[] = {{.name = NVTXT_SLICE("m"),
                                           .has_value = true,
                                           .value = {.type = REPORT_U64, .u64 = 7},
                                           .severity = REPORT_FOCUS_HIGH,
                                           .info = NVTXT_SLICE("i")}};
    struct report_result result = {
        .identifier = NVTXT_SLICE("R"),
        .name = NVTXT_SLICE("N"),
        .description = NVTXT_SLICE("D"),
        .messages = messages,
        .message_count = 1,
        .speedups = speedups,
        .speedup_count = 1,
        .tables = tables,
        .table_count = 1,
        .focus = focus,
        .focus_count = 1,
        .output = NVTXT_SLICE("one\ntwo"),
    };
    shown(&result, false,
          "  R: findings\n"
          "    optimization: T: see there \n"
          "      Estimated speedup: 12.3 % of the whole (global)\n"
          "       a  b\n"
          "      -1\n");
    shown(&result, true,
          "  R: findings\n"
          "    N: D\n"
          "    optimization: T: see there \n"
          "      Estimated speedup: 12.3 % of the whole (global)\n"
          "      Key metric: m = 7 (severity high): i\n"
          "       a  b\n"
          "      -1\n"
          "    | one\n"
          "    | two\n");
}
