// SPDX-License-Identifier: Apache-2.0
//
// A short name for a command line of make, such as "gcc lib/quotearg.c": the program that does the
// work and the file that it is about, or else its first words. The rules: nvtxt-send(1), "Names of
// steps".
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"

#define STEP_NAME_BYTES 100 // longest name, without its NUL

struct step_line {
    struct nvtxt_slice text;
    const char *shell;     // the program that is given the line
    const char *target;    // of make; "": not known
    const char *directory; // where it runs; "": not known
};

struct step_name {
    struct nvtxt_slice program; // a view of the line's text or of `shell`
    char text[STEP_NAME_BYTES + 1];
};

// Fills `name`, whose text is never empty. A line of a shell that is not a POSIX shell is not read:
// it has the name of the shell and the target.
void step_name_make(struct step_name *name, const struct step_line *line);

// Whether a program is a shell whose command lines are those of POSIX.
bool step_name_is_shell(const char *program);

// ---- The file of a command (step_file.c) --------------------------------------------------------

// Writes its name as it is shown. `words` is the command after the program, and may go on with
// other commands. Returns false when the command is about no file.
bool step_file(char out[STEP_NAME_BYTES + 1], struct nvtxt_slice program, struct nvtxt_slice words,
               const struct step_line *line);

// ---- Words (shell_words.c) ----------------------------------------------------------------------
//
// The words of a shell's command line, as far as one must know them to see which programs it runs:
// words with their quotes, redirections, and what stands between two commands. Nothing is expanded.
// Any bytes are a line: a quote that has no end goes to the line's end.

enum shell_token {
    SHELL_END,
    SHELL_WORD,
    SHELL_BREAK,    // ; ;; & && | || ( ) or the end of a line: another command may follow
    SHELL_REDIRECT, // < > >> and so on: a word follows that is no argument
};

// Takes the next token from `*line`. `*text` is what it is written as.
enum shell_token shell_next(struct nvtxt_slice *line, struct nvtxt_slice *text);

// A word that is one quoted string: what stands between its quotes. Else the word itself.
struct nvtxt_slice shell_unquote(struct nvtxt_slice word);

// NAME=anything.
bool shell_is_assignment(struct nvtxt_slice word);

// Whether the word is one of an array of names.
#define SHELL_IS_IN(word, list) shell_is_in(word, list, sizeof(list) / sizeof((list)[0]))
bool shell_is_in(struct nvtxt_slice word, const char *const *list, size_t count);
