// SPDX-License-Identifier: Apache-2.0
//
// Rates between two samples of counters, and how they are written.
#include "client/ctl/ctl_rates.h"

#include <criterion/criterion.h>

static struct rates_sample before, now;

// `sources`: "id opened_ns events" for each.
static void take(struct rates_sample *sample, int64_t at_ms, int64_t pid, int64_t events,
                 const char *sources) {
    json_t *status =
        json_pack("{s:I, s:I, s:I, s:I}", "pid", (json_int_t)pid, "events", (json_int_t)events,
                  "lines", (json_int_t)events, "bytes", (json_int_t)events * 10);
    json_t *list = json_loads(sources, 0, NULL);
    cr_assert(status && list);
    cr_assert_eq(rates_take(sample, status, list, at_ms, at_ms * 1000000), 0);
    json_decref(status);
    json_decref(list);
}

#define SOURCE(id, opened, events)                                                                 \
    "{\"source\":" #id ",\"opened_ns\":" #opened ",\"events\":" #events ",\"lines\":" #events      \
    ",\"bytes\":" #events "}"

static void end(void) {
    rates_deinit(&before);
    rates_deinit(&now);
}

Test(ctl_rates, are_differences_a_second_with_the_fastest_first) {
    take(&before, 1000, 1, 100, "{\"sources\":[" SOURCE(1, 5, 10) "," SOURCE(2, 5, 20) "]}");
    take(&now, 3000, 1, 300, "{\"sources\":[" SOURCE(1, 5, 14) "," SOURCE(2, 5, 120) "]}");
    rates_compare(&now, &before);
    cr_assert_float_eq(now.rate.events, 100, 1e-9);
    cr_assert_float_eq(now.rate.bytes, 1000, 1e-9);
    cr_assert(now.rows[0].source == 2 && now.rows[1].source == 1);
    cr_assert_float_eq(now.rows[0].rate.events, 50, 1e-9);
    cr_assert_float_eq(now.rows[1].rate.lines, 2, 1e-9);
    end();
}

Test(ctl_rates, are_not_known_at_first_and_after_a_restart) {
    take(&now, 1000, 1, 100, "{\"sources\":[" SOURCE(1, 5, 10) "]}");
    rates_compare(&now, &before);
    cr_assert(now.rate.events < 0 && now.rows[0].rate.events < 0);
    take(&before, 500, 2, 90, "{\"sources\":[" SOURCE(1, 5, 9) "]}");
    rates_compare(&now, &before);
    cr_assert(now.rate.events < 0 && now.rows[0].rate.events < 0);
    end();
}

Test(ctl_rates, of_a_counter_that_began_again_are_what_it_counted_since) {
    take(&before, 1000, 1, 0, "{\"sources\":[" SOURCE(1, 5, 900) "]}");
    take(&now, 2000, 1, 0, "{\"sources\":[" SOURCE(1, 5, 30) "]}");
    rates_compare(&now, &before);
    cr_assert_float_eq(now.rows[0].rate.bytes, 30, 1e-9);
    end();
}

Test(ctl_rates, of_new_sources_count_all_of_them_but_not_a_resumed_session) {
    take(&before, 1000, 1, 0, "{\"sources\":[]}");
    take(&now, 2000, 1, 0, "{\"sources\":[" SOURCE(1, 1500000000, 30) "," SOURCE(2, 5, 900) "]}");
    rates_compare(&now, &before);
    cr_assert_eq(now.rows[0].source, 1);
    cr_assert_float_eq(now.rows[0].rate.events, 30, 1e-9);
    cr_assert_lt(now.rows[1].rate.events, 0);
    end();
}

Test(ctl_rates, are_written_in_nine_columns) {
    static const struct {
        double rate;
        const char *text;
    } cases[] = {{-1, "-"},          {0, "0"},      {0.04, "0.0"},     {0.5, "0.5"},
                 {9.94, "9.9"},      {9.96, "10"},  {1234.4, "1,234"}, {999999.4, "999,999"},
                 {1234567, "1.23M"}, {5e9, "5000M"}};
    char out[RATES_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_str_eq(rates_text(out, cases[i].rate), cases[i].text);
    }
}
