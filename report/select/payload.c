// SPDX-License-Identifier: Apache-2.0
//
// An integer of either kind is a sign and a size of 64 bits. A double and such an integer are
// compared exactly: the double's whole part fits into a size, or it is beyond all integers.
#include "report/select/payload.h"

#include <math.h>

#include "protocol/base/scan.h"
#include "protocol/lang/value.h"

static const struct {
    const char *text;
    enum report_operator op;
} operators[] = {
    {"<=", REPORT_LESS_EQUAL},    {"<", REPORT_LESS},    {"!=", REPORT_NOT_EQUAL},
    {">=", REPORT_GREATER_EQUAL}, {">", REPORT_GREATER}, {"=", REPORT_EQUAL},
};

static struct nvtxt_slice after(struct nvtxt_slice text, size_t len) {
    return (struct nvtxt_slice){text.data + len, text.len - len};
}

static struct nvtxt_slice without_blanks(struct nvtxt_slice text) {
    while (text.len > 0 && text.data[0] == ' ') {
        text = after(text, 1);
    }
    while (text.len > 0 && text.data[text.len - 1] == ' ') {
        text.len--;
    }
    return text;
}

static bool parse_integer(struct nvtxt_slice text, struct report_payload_condition *condition) {
    struct nvtxt_scan in = nvtxt_scan(text);
    bool negative = nvtxt_scan_take(&in, '-');
    uint64_t size = 0;
    bool fits = nvtxt_scan_is(&in, NVTXT_CHAR_DIGIT) && nvtxt_scan_take_uint(&in, &size);
    condition->is_negative = negative && size > 0;
    condition->size = size;
    return fits && nvtxt_scan_left(&in) == 0;
}

int report_payload_parse(struct nvtxt_slice text, struct report_payload_condition *condition,
                         struct report_fault *fault) {
    struct nvtxt_slice rest = without_blanks(text);
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        struct nvtxt_slice op = nvtxt_slice_of(operators[i].text);
        if (!nvtxt_starts_with(rest, operators[i].text)) {
            continue;
        }
        condition->op = operators[i].op;
        rest = without_blanks(after(rest, op.len));
        condition->is_real = !parse_integer(rest, condition);
        int r = condition->is_real ? nvtxt_decimal_parse(rest, &condition->real) : 0;
        if (r > 0) {
            report_fault_set(fault, (size_t)(rest.data - text.data) + 1, "a number is missing");
            return NVTXT_WRONG;
        }
        return r;
    }
    report_fault_set(fault, (size_t)(rest.data - text.data) + 1,
                     "an operator is missing: there are < <= = != >= and >, as in '> 5'");
    return NVTXT_WRONG;
}

static int compare_integers(bool a_negative, uint64_t a, bool b_negative, uint64_t b) {
    if (a_negative != b_negative) {
        return a_negative ? -1 : 1;
    }
    return a_negative ? NVTXT_ORDER(b, a) : NVTXT_ORDER(a, b);
}

// `real` is a number.
static int compare_real(double real, bool negative, uint64_t size) {
    const double beyond = 18446744073709551616.0; // 2^64
    double whole = trunc(real);
    if (fabs(whole) >= beyond) {
        return real < 0 ? -1 : 1;
    }
    int r = compare_integers(whole < 0, (uint64_t)fabs(whole), negative, size);
    return r ?: NVTXT_ORDER(real, whole);
}

static int compare(const struct report_payload_condition *condition,
                   const struct report_event *event) {
    enum nvtxt_payload_kind kind = event->payload_kind;
    if (kind == NVTXT_PAYLOAD_DOUBLE || kind == NVTXT_PAYLOAD_FLOAT) {
        double real = event->payload.real;
        return !condition->is_real ? compare_real(real, condition->is_negative, condition->size)
               : real < condition->real ? -1
                                        : real > condition->real;
    }
    bool negative = kind != NVTXT_PAYLOAD_UINT64 && event->payload.int64 < 0;
    uint64_t bits = (uint64_t)event->payload.int64;
    uint64_t size = negative ? 0 - bits : bits;
    return condition->is_real
               ? -compare_real(condition->real, negative, size)
               : compare_integers(negative, size, condition->is_negative, condition->size);
}

bool report_payload_fits(const struct report_payload_condition *condition,
                         const struct report_event *event) {
    enum nvtxt_payload_kind kind = event->payload_kind;
    if (kind == NVTXT_PAYLOAD_NONE) {
        return false;
    }
    if ((kind == NVTXT_PAYLOAD_DOUBLE || kind == NVTXT_PAYLOAD_FLOAT) &&
        isnan(event->payload.real)) {
        return condition->op == REPORT_NOT_EQUAL;
    }
    int order = compare(condition, event);
    switch (condition->op) {
    case REPORT_LESS:
        return order < 0;
    case REPORT_LESS_EQUAL:
        return order <= 0;
    case REPORT_EQUAL:
        return order == 0;
    case REPORT_NOT_EQUAL:
        return order != 0;
    case REPORT_GREATER_EQUAL:
        return order >= 0;
    case REPORT_GREATER:
        return order > 0;
    }
    return false;
}
