// SPDX-License-Identifier: Apache-2.0
//
// Random streams of NVTXT, mostly valid: every command with definitions that change, variables,
// values of each type, odd ones among them, comments and broken lines. A seed gives the same stream
// each time.
#pragma once

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/buf.h"
#include "protocol/interp/interp.h"
#include "tests/golden/record.h"

#define LINES 160

// ---- Chance -------------------------------------------------------------------------------------

// splitmix64: any seed will do.
struct chance {
    uint64_t state;
};

static uint64_t chance_next(struct chance *chance) {
    uint64_t z = chance->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static unsigned below(struct chance *chance, unsigned limit) {
    return (unsigned)(chance_next(chance) % limit);
}

static bool one_in(struct chance *chance, unsigned n) {
    return below(chance, n) == 0;
}

#define PICK(chance, array) ((array)[below((chance), sizeof(array) / sizeof(*(array)))])

// ---- Streams ------------------------------------------------------------------------------------

static const char *const arg_names[] = {
    "Time",  "TimeBase", "ProcessId", "ThreadId", "CategoryId", "Color", "Message", "Payload",
    "Start", "End",      "RangeId",   "Name",     "Domain",     "Json",  "Kind",    "Handle"};
enum arg {
    TIME,
    BASE,
    PID,
    TID,
    CATEGORY,
    COLOR,
    MESSAGE,
    PAYLOAD,
    START,
    END,
    RANGE_ID,
    NAME,
    DOMAIN,
    JSON,
    KIND,
    HANDLE
};

static const struct command {
    const char *name;
    unsigned weight; // how often it is called
    unsigned required, count;
    unsigned nvtx;     // optional ones after these, with the extension nvtx
    enum arg args[11]; // the required ones first
} commands[] = {
    {"Marker", 4, 1, 8, 2, {TIME, BASE, PID, TID, CATEGORY, COLOR, MESSAGE, PAYLOAD, DOMAIN, JSON}},
    {"RangePush",
     8,
     1,
     8,
     2,
     {TIME, BASE, PID, TID, CATEGORY, COLOR, MESSAGE, PAYLOAD, DOMAIN, JSON}},
    {"RangePop", 7, 1, 4, 2, {TIME, BASE, PID, TID, DOMAIN, JSON}},
    {"RangeStartEnd",
     2,
     2,
     9,
     2,
     {START, END, BASE, PID, TID, CATEGORY, COLOR, MESSAGE, PAYLOAD, DOMAIN, JSON}},
    {"RangeStart",
     6,
     2,
     9,
     2,
     {TIME, RANGE_ID, BASE, PID, TID, CATEGORY, COLOR, MESSAGE, PAYLOAD, DOMAIN, JSON}},
    {"RangeEnd", 6, 2, 5, 1, {TIME, RANGE_ID, BASE, PID, TID, JSON}},
    {"SetFileDisplayName", 1, 1, 1, 0, {NAME}},
    {"SetCategoryName", 1, 2, 2, 1, {CATEGORY, NAME, DOMAIN}},
    {"SetThreadName", 1, 2, 3, 0, {TID, NAME, PID}},
    {"SetProcessName", 1, 1, 2, 0, {NAME, PID}},
    {"SetResourceName", 1, 3, 3, 2, {KIND, HANDLE, NAME, DOMAIN, PID}},
    {"SetCounter", 1, 1, 1, 2, {NAME, DOMAIN, JSON}},
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))
#define FIRST_NAME 6 // of those that give names

struct definition {
    unsigned count;
    enum arg args[11];
};

struct stream {
    struct chance chance;
    struct nvtxt_buf text;
    size_t ends[LINES]; // where each line ends in the text
    size_t lines;
    struct definition definitions[COMMANDS];
    int64_t now;
    bool nvtx; // it has the extension; the others try it, too
};

static void say(struct stream *stream, const char *text) {
    nvtxt_buf_add_string(&stream->text, text);
}

static void end_line(struct stream *stream) {
    stream->ends[stream->lines++] = stream->text.len;
}

static void say_time(struct stream *stream) {
    static const char *const odd[] = {
        "-1", "0x7FFFFFFFFFFFFFFF", "-9223372036854775808", "9223372036854775808", "1x", "now",
        "$T"};
    if (one_in(&stream->chance, 12)) {
        say(stream, PICK(&stream->chance, odd));
        return;
    }
    stream->now += (int64_t)below(&stream->chance, 50) - 5;
    nvtxt_buf_add_int(&stream->text, stream->now);
}

static void say_quoted(struct stream *stream) {
    static const char *const pieces[] = {
        "a", "b c",  "\xc3\xa9", "\xf0\x9f\x98\x80",         "\\", "'", "#", "$T", "\t", "\x01", "",
        "",  "\xff", "\xe2\x82", "a long piece of a message"};
    unsigned count = below(&stream->chance, 4);
    say(stream, "\"");
    for (unsigned i = 0; i < count; i++) {
        say(stream, PICK(&stream->chance, pieces));
    }
    say(stream, one_in(&stream->chance, 60) ? "" : "\"");
}

static void say_small(struct stream *stream, unsigned limit) {
    static const char *const odd[] = {"-1", "0x1000000", "4294967296", "\"1\"", "$A", "$B"};
    if (one_in(&stream->chance, 40)) {
        say(stream, PICK(&stream->chance, odd));
    } else {
        nvtxt_buf_add_uint(&stream->text, below(&stream->chance, limit));
    }
}

static void say_value(struct stream *stream, enum arg arg) {
    static const char *const bases[] = {"Manual", "Manual",         "Manual", "Relative",
                                        "Qpc",    "ClockMonotonic", "CNTVCT", "\"Tsc\""};
    static const char *const colors[] = {"Blue", "\"#123456\"", "0xFF00FF00", "\"#80FFFFFF\"",
                                         "7",    "Bleu",        "-1",         "$A"};
    static const char *const payloads[] = {"1",
                                           "-5",
                                           "\"1.5\"",
                                           "\"-2e10\"",
                                           "\"0.1\"",
                                           "9223372036854775807",
                                           "\"x\"",
                                           "$B",
                                           "\"u64:18446744073709551615\"",
                                           "\"i32:-7\"",
                                           "\"f32:0.1\"",
                                           "\"\"",
                                           "\"f64:nan\"",
                                           "\"u32:4294967296\""};
    static const char *const domains[] = {"\"\"", "D", "E", "'a domain'", "5", "$A"};
    static const char *const jsons[] = {"\"\"",     "\"\"",    "'{}'",  "\"{\\\"a\\\":[1]}\"",
                                        "'[null]'", "'\"x\"'", "'{\"'", "$B"};
    static const char *const kinds[] = {"cuStream", "generic", "'no word'", "5"};
    static const char *const handles[] = {"0", "-1", "\"0xfFfFfFfFfFfFfFfF\"", "\"0x\""};
    switch (arg) {
    case TIME:
    case START:
    case END:
        say_time(stream);
        break;
    case BASE:
        say(stream, PICK(&stream->chance, bases));
        break;
    case PID:
        say_small(stream, 2);
        break;
    case TID:
    case CATEGORY:
        say_small(stream, 4);
        break;
    case RANGE_ID:
        say_small(stream, 8);
        break;
    case COLOR:
        say(stream, PICK(&stream->chance, colors));
        break;
    case PAYLOAD:
        say(stream, PICK(&stream->chance, payloads));
        break;
    case MESSAGE:
    case NAME:
        if (one_in(&stream->chance, 6)) {
            say(stream, one_in(&stream->chance, 2) ? "$A" : "word");
        } else {
            say_quoted(stream);
        }
        break;
    case DOMAIN:
        say(stream, PICK(&stream->chance, domains));
        break;
    case JSON:
        say(stream, PICK(&stream->chance, jsons));
        break;
    case KIND:
        say(stream, PICK(&stream->chance, kinds));
        break;
    case HANDLE:
        say(stream, PICK(&stream->chance, handles));
        break;
    }
}

// Most definitions list what is required and some of the rest, in any order.
static void say_definition(struct stream *stream, unsigned which) {
    const struct command *command = &commands[which];
    struct definition *definition = &stream->definitions[which];
    definition->count = 0;
    say(stream, "@");
    say(stream, command->name);
    unsigned extra = stream->nvtx || one_in(&stream->chance, 20) ? command->nvtx : 0;
    for (unsigned i = 0; i < command->count + extra; i++) {
        if (i < command->required ? one_in(&stream->chance, 30) : below(&stream->chance, 3) > 0) {
            continue;
        }
        unsigned at = below(&stream->chance, definition->count + 1);
        memmove(definition->args + at + 1, definition->args + at,
                (definition->count - at) * sizeof(*definition->args));
        definition->args[at] = command->args[i];
        definition->count++;
    }
    for (unsigned i = 0; i < definition->count; i++) {
        say(stream, ", ");
        say(stream, arg_names[definition->args[i]]);
    }
    end_line(stream);
}

// A command, the frequent ones more often.
static unsigned any_command(struct stream *stream) {
    unsigned sum = 0, which = 0;
    for (unsigned i = 0; i < COMMANDS; i++) {
        sum += commands[i].weight;
    }
    for (unsigned left = below(&stream->chance, sum); left >= commands[which].weight; which++) {
        left -= commands[which].weight;
    }
    return which;
}

static void say_call(struct stream *stream, unsigned which) {
    say(stream, commands[which].name);
    const struct definition *definition = &stream->definitions[which];
    for (unsigned i = 0; i < definition->count; i++) {
        say(stream, ", ");
        say_value(stream, definition->args[i]);
    }
    end_line(stream);
}

static void say_assignment(struct stream *stream) {
    static const char *const others[] = {"A", "B", "T", "a_longer_name"};
    enum arg arg = (enum arg)below(&stream->chance, sizeof(arg_names) / sizeof(*arg_names));
    bool other = one_in(&stream->chance, 2);
    say(stream, other ? PICK(&stream->chance, others) : arg_names[arg]);
    say(stream, " = ");
    say_value(stream, arg);
    end_line(stream);
}

static void say_oddity(struct stream *stream) {
    static const char *const lines[] = {
        "",  "# comment", "Bogus, 1", "@Marker, Time, Time", "RangePop,",
        "@", "X = 1 2",   ";",        "Marker, \"open",      "  \t "};
    say(stream, PICK(&stream->chance, lines));
    if (one_in(&stream->chance, 8)) {
        say(stream, "                                                            too long"
                    "                                                            too long");
    }
    end_line(stream);
}

static void make_stream(struct stream *stream, uint64_t seed) {
    *stream = (struct stream){.chance = {seed}, .nvtx = seed % 2};
    for (unsigned i = 0; i < COMMANDS; i++) {
        say_definition(stream, i);
    }
    for (unsigned i = below(&stream->chance, 6); i > 0; i--) { // these wait for the first event
        say_call(stream, FIRST_NAME + below(&stream->chance, COMMANDS - FIRST_NAME));
    }
    while (stream->lines < LINES) {
        unsigned kind = below(&stream->chance, 20);
        if (kind < 1) {
            say_definition(stream, below(&stream->chance, COMMANDS));
        } else if (kind < 3) {
            say_assignment(stream);
        } else if (kind < 4) {
            say_oddity(stream);
        } else {
            say_call(stream, any_command(stream));
        }
    }
}

static struct nvtxt_slice stream_line(const struct stream *stream, size_t i) {
    size_t start = i ? stream->ends[i - 1] : 0;
    return (struct nvtxt_slice){stream->text.data + start, stream->ends[i] - start};
}

// Configurations of a source, with limits that the streams reach.
static struct nvtxt_source_config make_config(struct chance *chance) {
    static const struct nvtxt_mapping mappings[] = {
        {.mode = NVTXT_MAPPING_NONE},
        {.mode = NVTXT_MAPPING_NONE},
        {.mode = NVTXT_MAPPING_LIN, .ns_a = -5, .nvtxt_a = 7, .freq = 3},
        {.mode = NVTXT_MAPPING_LERP, .ns_a = 10, .ns_b = 90, .nvtxt_a = 100, .nvtxt_b = 3}};
    struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT,
        .default_pid = below(chance, 3),
        .claim = one_in(chance, 6),
        .opened_ns = RECORD_OPENED_NS,
        .origin_ns = below(chance, 1000),
        .mapping = PICK(chance, mappings),
    };
    config.claimed_pid = config.default_pid;
    config.limits.line_bytes = 120;
    config.limits.push_depth = 4 + below(chance, 8);
    config.limits.open_ranges = 3 + below(chance, 8);
    config.limits.open_threads = 3 + below(chance, 8);
    config.limits.variables = 6 + below(chance, 12);
    config.limits.waiting_names = 1 + below(chance, 4);
    config.limits.diagnostics = one_in(chance, 3) ? 10 : 1000;
    return config;
}
