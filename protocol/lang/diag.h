// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: what is wrong with a line, for people and for programs. One X-macro holds every code
// with its stage, its severity and its meaning; the list in nvtxt(5) is made from it. A diagnostic
// is a value of fixed size on the stack of the caller: making one allocates nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/limits.h"
#include "protocol/base/slice.h"

enum nvtxt_severity { NVTXT_ERROR, NVTXT_WARNING };
enum nvtxt_stage { NVTXT_LEXING, NVTXT_PARSING, NVTXT_LOADING };

// X(identifier, code, stage, severity, meaning)
#define NVTXT_DIAG_CODES(X)                                                                        \
    X(LINE_TOO_LONG, "line-too-long", LEXING, ERROR,                                               \
      "The line is longer than the limit; it is skipped up to its end.")                           \
    X(NUL_BYTE, "nul-byte", LEXING, ERROR, "A NUL byte outside a comment.")                        \
    X(STRAY_BYTE, "stray-byte", LEXING, ERROR, "A byte that begins no token.")                     \
    X(UNTERMINATED_STRING, "unterminated-string", LEXING, ERROR,                                   \
      "A quoted string whose closing quote is not on the line.")                                   \
    X(BAD_INTEGER, "bad-integer", LEXING, ERROR,                                                   \
      "A letter, a digit, an underscore or a point directly after a number.")                      \
    X(INTEGER_OUT_OF_RANGE, "integer-out-of-range", LEXING, ERROR,                                 \
      "A number that does not fit a signed 64-bit integer.")                                       \
    X(UNDEFINED_VARIABLE, "undefined-variable", LEXING, ERROR,                                     \
      "The expansion of a variable that has no value yet.")                                        \
    X(INVALID_UTF8, "invalid-utf8", LEXING, WARNING,                                               \
      "A string holds bytes that are not UTF-8; each became U+FFFD.")                              \
    X(EXPECTED_NAME, "expected-name", PARSING, ERROR,                                              \
      "The name of a command, an argument or a variable must stand here.")                         \
    X(EXPECTED_VALUE, "expected-value", PARSING, ERROR, "A value must stand here.")                \
    X(EXPECTED_COMMA, "expected-comma", PARSING, ERROR, "A comma must stand here.")                \
    X(TRAILING_TEXT, "trailing-text", PARSING, ERROR,                                              \
      "Text follows an assignment that is complete.")                                              \
    X(UNKNOWN_COMMAND, "unknown-command", PARSING, ERROR, "There is no such command.")             \
    X(UNKNOWN_ARGUMENT, "unknown-argument", PARSING, ERROR,                                        \
      "The command takes no argument of this name.")                                               \
    X(DUPLICATE_ARGUMENT, "duplicate-argument", PARSING, ERROR,                                    \
      "A definition names an argument twice.")                                                     \
    X(WRONG_VALUE_COUNT, "wrong-value-count", PARSING, ERROR,                                      \
      "A call has more or fewer values than the definition in force has arguments.")               \
    X(WRONG_TYPE, "wrong-type", PARSING, ERROR, "A value of a call has the wrong type.")           \
    X(BAD_PAYLOAD, "bad-payload", PARSING, ERROR,                                                  \
      "Payload is a string that is not a decimal number, nor, with the extension nvtx, a typed "   \
      "one in the range of its type.")                                                             \
    X(BAD_JSON, "bad-json", PARSING, ERROR,                                                        \
      "Json is a string that is not one JSON value of at most 64 levels (extension nvtx).")        \
    X(MISSING_ARGUMENT, "missing-argument", LOADING, ERROR,                                        \
      "A required argument is neither in the definition nor set as a variable.")                   \
    X(STATIC_WRONG_TYPE, "wrong-type", LOADING, ERROR,                                             \
      "The variable of a static argument has the wrong type.")                                     \
    X(ID_OUT_OF_RANGE, "id-out-of-range", LOADING, ERROR,                                          \
      "ProcessId or ThreadId is not in 0 to 0xFFFFFF.")                                            \
    X(CATEGORY_OUT_OF_RANGE, "category-out-of-range", LOADING, ERROR,                              \
      "CategoryId is not in 0 to 0xFFFFFFFF.")                                                     \
    X(TIME_OUT_OF_RANGE, "time-out-of-range", LOADING, ERROR,                                      \
      "The time, moved to the timeline, does not fit a signed 64-bit integer.")                    \
    X(LIMIT_EXCEEDED, "limit-exceeded", LOADING, ERROR,                                            \
      "The line would pass one of the limits of a source.")                                        \
    X(POP_WITHOUT_PUSH, "pop-without-push", LOADING, ERROR, "The thread has no range to pop.")     \
    X(END_WITHOUT_START, "end-without-start", LOADING, ERROR, "No range of this RangeId is open.") \
    X(RANGE_ALREADY_OPEN, "range-already-open", LOADING, ERROR,                                    \
      "A range of this RangeId is open already.")                                                  \
    X(FOREIGN_PROCESS, "foreign-process", LOADING, ERROR,                                          \
      "The event is of a living process that the sender has not started, or of another user's, "   \
      "and the daemon refuses that.")                                                              \
    X(BAD_COLOR, "bad-color", LOADING, WARNING,                                                    \
      "No known colour; the event is kept with colour 0.")                                         \
    X(ENDS_BEFORE_START, "ends-before-start", LOADING, WARNING,                                    \
      "The range ends before it starts; it is kept as given.")                                     \
    X(NEVER_CLOSED, "never-closed", LOADING, WARNING,                                              \
      "The source ended while this range was open; it ends at the source's latest time.")          \
    X(UNKNOWN_TIMEBASE, "unknown-timebase", LOADING, WARNING,                                      \
      "A foreign clock without a mapping: its values are taken as nanoseconds. Once per source.")  \
    X(NO_CLOCK, "no-clock", LOADING, WARNING,                                                      \
      "The offset of the clock is not known; its values are taken as nanoseconds. Once per "       \
      "source.")                                                                                   \
    X(FOREIGN_NAME, "foreign-name", LOADING, WARNING,                                              \
      "The process is another user's, or of two users that cannot prove it; the name has no "      \
      "effect. Once per source.")                                                                  \
    X(BAD_PARENT, "bad-parent", LOADING, WARNING,                                                  \
      "The parent that a session gives cannot be read; it is as if none was given. Once per "      \
      "source.")

enum nvtxt_diag_code {
#define X(id, code, stage, severity, meaning) NVTXT_DIAG_##id,
    NVTXT_DIAG_CODES(X)
#undef X
        NVTXT_DIAG_CODE_COUNT
};

#define NVTXT_DIAG_MESSAGE_SIZE 384                           // with its NUL
#define NVTXT_DIAG_EXCERPT_SIZE (NVTXT_EXCERPT_BYTES * 3 + 1) // each bad byte grows to U+FFFD

struct nvtxt_diag {
    enum nvtxt_diag_code code;
    uint32_t column;                       // 1-based, in bytes
    uint64_t line;                         // 1-based
    char message[NVTXT_DIAG_MESSAGE_SIZE]; // one sentence, valid UTF-8 without control characters
    char excerpt[NVTXT_DIAG_EXCERPT_SIZE]; // the line's first bytes as valid UTF-8, no NUL inside
};

const char *nvtxt_diag_code_name(enum nvtxt_diag_code code); // "undefined-variable"
enum nvtxt_stage nvtxt_diag_stage(enum nvtxt_diag_code code);
enum nvtxt_severity nvtxt_diag_severity(enum nvtxt_diag_code code);
const char *nvtxt_diag_meaning(enum nvtxt_diag_code code);
const char *nvtxt_stage_name(enum nvtxt_stage stage);          // "lexing"
const char *nvtxt_severity_name(enum nvtxt_severity severity); // "error"

// Fills code, column and message; clears line and excerpt. The format is ours, never a peer's. A
// peer's text comes in as "%.*s"; invalid UTF-8 and control characters of it become U+FFFD.
void nvtxt_diag_set(struct nvtxt_diag *diag, enum nvtxt_diag_code code, uint32_t column,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

// Adds "; did you mean '…'?" to the message. Does nothing when `near` is NULL.
void nvtxt_diag_suggest(struct nvtxt_diag *diag, const char *near);

// A piece of a line in a message: the two arguments of "%.*s", with the first bytes of the piece.
#define NVTXT_QUOTED_BYTES 80 // enough to recognise a token; keeps a message one line
#define NVTXT_QUOTED(slice) (int)nvtxt_slice_cut(slice, NVTXT_QUOTED_BYTES).len, (slice).data

// The first NVTXT_EXCERPT_BYTES of a line as valid UTF-8 without NUL; a character that the cut
// would split is left out. A view of the line where that will do, else of `buffer`.
struct nvtxt_slice nvtxt_excerpt(struct nvtxt_slice line, char buffer[NVTXT_DIAG_EXCERPT_SIZE]);

// Copies the excerpt of a line.
void nvtxt_diag_set_excerpt(struct nvtxt_diag *diag, struct nvtxt_slice line);

// The line that people read, as a compiler prints it, without a line end:
//   file.nvtxt:12:9: error: undefined variable '$Pid' [undefined-variable]
// Writes at most `size` bytes with the NUL; returns the length without cutting, as snprintf does.
int nvtxt_diag_format(char *buffer, size_t size, const char *source, uint64_t line, uint32_t column,
                      const char *severity, const char *message, const char *code);
