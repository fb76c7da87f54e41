// SPDX-License-Identifier: Apache-2.0
//
// Of a field that stands twice the last one counts; a message that stands twice is one, with the
// fields of both.
#include "report/ncurep/result.h"

#include <string.h>

#include "report/ncurep/known.h"

static void take_number(struct report_ncurep_result *result,
                        const struct report_wire_field *field) {
    switch (field->number) {
    case NCUREP_RESULT_TID:
        result->tid = (uint32_t)field->value;
        break;
    case NCUREP_RESULT_KERNEL:
        result->kernel = field->value;
        break;
    case NCUREP_RESULT_TIME:
        result->created = field->value;
        break;
    case NCUREP_RESULT_CONTEXT:
        result->context = field->value;
        break;
    case NCUREP_RESULT_STREAM:
        result->stream = field->value;
        break;
    default:
        break;
    }
}

static void take_bytes(struct report_ncurep_result *result, const struct report_wire_field *field) {
    switch (field->number) {
    case NCUREP_RESULT_MANGLED:
        result->mangled = field->bytes;
        break;
    case NCUREP_RESULT_FUNCTION:
        result->function = field->bytes;
        break;
    case NCUREP_RESULT_DEMANGLED:
        result->demangled = field->bytes;
        break;
    case NCUREP_RESULT_METRIC:
        result->metric_count++;
        break;
    case NCUREP_RESULT_NVTX:
        result->has_state = true;
        break;
    default:
        break;
    }
}

void report_ncurep_result_read(struct nvtxt_slice bytes, struct report_ncurep_result *result) {
    struct report_wire wire = report_wire_of(bytes);
    struct report_wire_field field;
    const struct nvtxt_slice empty = NVTXT_SLICE("");
    *result = (struct report_ncurep_result){
        .bytes = bytes, .mangled = empty, .function = empty, .demangled = empty};
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.type == REPORT_WIRE_VARINT) {
            take_number(result, &field);
        } else if (field.type == REPORT_WIRE_BYTES) {
            take_bytes(result, &field);
        }
    }
}

// ---- Metrics ------------------------------------------------------------------------------------

static void read_value(struct nvtxt_slice bytes, struct report_ncurep_value *value) {
    struct report_wire wire = report_wire_of(bytes);
    struct report_wire_field field;
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number == NCUREP_VALUE_STRING && field.type == REPORT_WIRE_BYTES) {
            *value = (struct report_ncurep_value){REPORT_NCUREP_STRING, .string = field.bytes};
        } else if (field.number == NCUREP_VALUE_FLOAT && field.type == REPORT_WIRE_FIXED32) {
            uint32_t bits = (uint32_t)field.value;
            float real;
            memcpy(&real, &bits, sizeof(real));
            *value = (struct report_ncurep_value){REPORT_NCUREP_FLOAT, .real = (double)real};
        } else if (field.number == NCUREP_VALUE_DOUBLE && field.type == REPORT_WIRE_FIXED64) {
            *value = (struct report_ncurep_value){.kind = REPORT_NCUREP_DOUBLE};
            memcpy(&value->real, &field.value, sizeof(value->real));
        } else if (field.number == NCUREP_VALUE_UINT32 && field.type == REPORT_WIRE_VARINT) {
            *value =
                (struct report_ncurep_value){REPORT_NCUREP_UINT32, .number = (uint32_t)field.value};
        } else if (field.number == NCUREP_VALUE_UINT64 && field.type == REPORT_WIRE_VARINT) {
            *value = (struct report_ncurep_value){REPORT_NCUREP_UINT64, .number = field.value};
        }
    }
}

void report_ncurep_metric_read(struct nvtxt_slice bytes, struct report_ncurep_metric *metric) {
    struct report_wire wire = report_wire_of(bytes);
    struct report_wire_field field;
    *metric = (struct report_ncurep_metric){.bytes = bytes};
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number == NCUREP_METRIC_NAME && field.type == REPORT_WIRE_VARINT) {
            metric->name = field.value;
        } else if (field.number == NCUREP_METRIC_VALUE && field.type == REPORT_WIRE_BYTES) {
            read_value(field.bytes, &metric->value);
        } else if (field.number == NCUREP_METRIC_ELEMENT && field.type == REPORT_WIRE_BYTES) {
            metric->instance_count++;
        }
    }
}

bool report_ncurep_next_metric(struct report_wire *cursor, struct report_ncurep_metric *metric) {
    struct nvtxt_slice bytes;
    if (!report_wire_find(cursor, NCUREP_RESULT_METRIC, &bytes)) {
        return false;
    }
    report_ncurep_metric_read(bytes, metric);
    return true;
}

bool report_ncurep_next_instance(struct report_wire *cursor, struct report_ncurep_value *id,
                                 struct report_ncurep_value *value) {
    struct nvtxt_slice bytes;
    struct report_wire_field field;
    if (!report_wire_find(cursor, NCUREP_METRIC_ELEMENT, &bytes)) {
        return false;
    }
    struct report_wire wire = report_wire_of(bytes);
    *id = *value = (struct report_ncurep_value){.kind = REPORT_NCUREP_NONE};
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number == NCUREP_ELEMENT_ID && field.type == REPORT_WIRE_BYTES) {
            read_value(field.bytes, id);
        } else if (field.number == NCUREP_ELEMENT_VALUE && field.type == REPORT_WIRE_BYTES) {
            read_value(field.bytes, value);
        }
    }
    return true;
}
