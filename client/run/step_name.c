// SPDX-License-Identifier: Apache-2.0
//
// First the command that does the work is looked for: what only prepares or tells something (cd,
// test, echo and so on) counts when there is nothing else. Then what stands before its program is
// left out: assignments, env, ccache, a shell with a script, libtool. A shell with a line of its
// own (-c) is entered. At last the words after the program are looked at for a file.
#include "client/run/step_name.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/scan.h"

#define FIRST_WORDS 48 // bytes of a command that is about no file
#define FUNCTIONS 4    // of one line that are known
#define DEPTH 4        // shells within shells

static const char *const shells[] = {"sh",    "bash", "dash", "ash",  "ksh",
                                     "ksh93", "mksh", "zsh",  "posh", "yash"};

// What prepares, asks or tells, or leaves the shell.
static const char *const weak[] = {":",    "[",    "break",  "cd",    "continue", "echo",
                                   "eval", "exit", "export", "false", "mkdir",    "printf",
                                   "pwd",  "read", "return", "rm",    "set",      "shift",
                                   "test", "trap", "true",   "umask", "unset",    "wait"};

// Words of the shell after which a command stands.
static const char *const before_command[] = {"!",    "do",    "elif",  "else", "if",
                                             "then", "until", "while", "{"};

// Words of the shell that end something.
static const char *const ends[] = {"done", "esac", "fi", "}"};

// Programs that run the program which their words name.
static const char *const runners[] = {"builtin", "ccache",  "command", "depcomp", "distcc",  "env",
                                      "exec",    "icecc",   "ionice",  "libtool", "missing", "nice",
                                      "nohup",   "sccache", "time",    "timeout"};

static bool has_any(struct nvtxt_slice word, const char *bytes) {
    for (; *bytes; bytes++) {
        if (word.len > 0 && memchr(word.data, *bytes, word.len)) {
            return true;
        }
    }
    return false;
}

static struct nvtxt_slice base_of(struct nvtxt_slice word) {
    word = shell_unquote(word);
    const char *slash = word.len ? memrchr(word.data, '/', word.len) : NULL;
    size_t skipped = slash ? (size_t)(slash - word.data) + 1 : 0;
    return (struct nvtxt_slice){word.data + skipped, word.len - skipped};
}

bool step_name_is_shell(const char *program) {
    return SHELL_IS_IN(nvtxt_slice_of(nvtxt_base_name(program)), shells);
}

// ---- The command --------------------------------------------------------------------------------

// Where the walk over a line is.
struct walk {
    struct nvtxt_slice rest;
    bool expects;    // a command may begin here
    bool in_pattern; // of case: up to the next ')'
    bool before_in;  // ... up to the word "in"
    bool in_list;    // of for: up to the end of the command
    bool skips_word; // the next word belongs to a redirection
    struct nvtxt_slice functions[FUNCTIONS];
    size_t function_count;
};

static void on_break(struct walk *walk, struct nvtxt_slice text) {
    if (walk->in_pattern) {
        walk->in_pattern = *text.data != ')';
        walk->expects = !walk->in_pattern;
        return;
    }
    walk->in_pattern = text.len == 2 && *text.data == ';';
    walk->in_list = false;
    walk->expects = true;
}

// Whether a command begins with the word, which stands where one may.
static bool begins_command(struct walk *walk, struct nvtxt_slice word) {
    if (nvtxt_slice_equal(word, NVTXT_SLICE("case"))) {
        walk->before_in = true;
    } else if (nvtxt_slice_equal(word, NVTXT_SLICE("for"))) {
        walk->in_list = true;
    } else if (SHELL_IS_IN(word, ends)) {
        walk->expects = false;
    } else if (!SHELL_IS_IN(word, before_command) && !shell_is_assignment(word)) {
        walk->expects = false;
        return true;
    }
    return false;
}

// "name ()": what follows is what it stands for. Later such a name is no program's.
static bool is_definition(struct walk *walk, struct nvtxt_slice word) {
    struct nvtxt_slice rest = walk->rest, text;
    bool is = shell_next(&rest, &text) == SHELL_BREAK && *text.data == '(';
    if (is && walk->function_count < FUNCTIONS) {
        walk->functions[walk->function_count++] = word;
    }
    return is;
}

static bool is_function(const struct walk *walk, struct nvtxt_slice word) {
    bool is = false;
    for (size_t i = 0; i < walk->function_count; i++) {
        is = is || nvtxt_slice_equal(word, walk->functions[i]);
    }
    return is;
}

static bool take_word(struct walk *walk, struct nvtxt_slice word) {
    if (walk->skips_word) {
        walk->skips_word = false;
    } else if (walk->before_in) {
        walk->before_in = !nvtxt_slice_equal(word, NVTXT_SLICE("in"));
        walk->in_pattern = !walk->before_in;
    } else if (walk->in_pattern) {
        walk->in_pattern = !nvtxt_slice_equal(word, NVTXT_SLICE("esac"));
        walk->expects = false;
    } else if (walk->expects && !walk->in_list) {
        return begins_command(walk, word) && !is_definition(walk, word);
    }
    return false;
}

// Finds the next command: `*command` becomes the line from its first word on.
static bool next_command(struct walk *walk, struct nvtxt_slice *word, struct nvtxt_slice *command) {
    struct nvtxt_slice before = walk->rest;
    enum shell_token token;
    while ((token = shell_next(&walk->rest, word)) != SHELL_END) {
        size_t skipped = (size_t)(word->data - before.data);
        *command = (struct nvtxt_slice){word->data, before.len - skipped};
        if (token == SHELL_BREAK) {
            on_break(walk, *word);
        } else if (token == SHELL_REDIRECT) {
            walk->skips_word = true;
        } else if (take_word(walk, *word)) {
            return true;
        }
        before = walk->rest;
    }
    return false;
}

// The command that does the work. False when the line has none.
static bool find_command(struct nvtxt_slice line, struct nvtxt_slice *found) {
    size_t marks = 0;
    while (marks < line.len && strchr(" \t@+-", line.data[marks])) {
        marks++;
    }
    struct walk walk = {.rest = {line.data + marks, line.len - marks}, .expects = true};
    struct nvtxt_slice word, command;
    bool has_weak = false;
    found->len = 0;
    while (next_command(&walk, &word, &command)) {
        struct nvtxt_slice base = base_of(word);
        bool is_weak = base.len == 0 || SHELL_IS_IN(base, weak) || has_any(base, "$`") ||
                       is_function(&walk, word);
        if (!is_weak || !has_weak) {
            *found = command;
            has_weak = is_weak;
        }
        if (!is_weak) {
            return true;
        }
    }
    return has_weak;
}

// ---- The program --------------------------------------------------------------------------------

// The next word of the command. False at its end.
static bool next_word(struct nvtxt_slice *command, struct nvtxt_slice *word) {
    struct nvtxt_slice before = *command;
    enum shell_token token = shell_next(command, word);
    while (token == SHELL_REDIRECT) {
        (void)shell_next(command, word);
        before = *command;
        token = shell_next(command, word);
    }
    if (token != SHELL_WORD) {
        *command = before;
    }
    return token == SHELL_WORD;
}

static bool is_option(struct nvtxt_slice word) {
    return word.len > 1 && *word.data == '-';
}

// "-c" of a shell, also among other letters.
static bool is_line_option(struct nvtxt_slice word) {
    return is_option(word) && word.data[1] != '-' && memchr(word.data, 'c', word.len);
}

// What stands before the program is left out of `*command`, up to the program's word. Returns true
// when that is a line for a shell: then `*command` is the line.
static bool peel(struct nvtxt_slice *command) {
    struct nvtxt_slice rest = *command, word;
    bool is_shell = false, is_runner = false;
    while (next_word(&rest, &word)) {
        struct nvtxt_slice base = base_of(word);
        if (is_shell && is_line_option(word) && next_word(&rest, &word)) {
            *command = shell_unquote(word);
            return true;
        }
        bool is_mine = (is_shell || is_runner) && is_option(word);
        bool is_number = is_runner && nvtxt_char_is(*word.data, NVTXT_CHAR_DIGIT);
        if (!is_mine && !is_number && !shell_is_assignment(word)) {
            *command = (struct nvtxt_slice){word.data, (size_t)(rest.data - word.data) + rest.len};
            is_shell = !is_shell && SHELL_IS_IN(base, shells);
            is_runner = SHELL_IS_IN(base, runners);
            if (!is_shell && !is_runner) {
                return false;
            }
        }
    }
    return false;
}

// ---- The name -----------------------------------------------------------------------------------

// Adds a word after a blank, cut where FIRST_WORDS end. Returns whether all of it is there.
static bool add_word(char *out, size_t *len, struct nvtxt_slice word) {
    size_t room = FIRST_WORDS - *len - (*len > 0);
    struct nvtxt_slice cut = word.len > room ? nvtxt_slice_cut(word, room - 1) : word;
    *len += (size_t)sprintf(out + *len, "%s%.*s%s", *len > 0 ? " " : "", (int)cut.len, cut.data,
                            cut.len < word.len ? "…" : "");
    return cut.len == word.len && *len + 2 < FIRST_WORDS;
}

// The program and the first words after it.
static void add_words(char *out, struct nvtxt_slice program, struct nvtxt_slice words) {
    struct nvtxt_slice word = program;
    size_t len = 0;
    while (add_word(out, &len, word) && next_word(&words, &word)) {
    }
}

// A name is one line of text that people can read.
static void clean(char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = ' ';
        }
    }
}

// The program and the file; of a long file the end.
static void show_file(struct step_name *name, const char *file) {
    struct nvtxt_slice program = nvtxt_slice_cut(name->program, 32);
    size_t room = STEP_NAME_BYTES - program.len - 1, skipped = 0, len = strlen(file);
    char *at = (char *)mempcpy(name->text, program.data, program.len);
    *at++ = ' ';
    if (len > room) {
        skipped = len - room + strlen("…");
        while (((unsigned char)file[skipped] & 0xc0) == 0x80) {
            skipped++;
        }
        at = (char *)mempcpy(at, "…", strlen("…"));
    }
    memcpy(at, file + skipped, len - skipped + 1);
}

static void name_command(struct step_name *name, struct nvtxt_slice command,
                         const struct step_line *line) {
    struct nvtxt_slice rest = command, word;
    char file[STEP_NAME_BYTES + 1];
    if (!next_word(&rest, &word)) {
        return;
    }
    struct nvtxt_slice program = base_of(word);
    name->program = program.len ? program : name->program;
    if (step_file(file, name->program, rest, line)) {
        show_file(name, file);
    } else {
        add_words(name->text, name->program, rest);
    }
}

void step_name_make(struct step_name *name, const struct step_line *line) {
    struct nvtxt_slice command = {NULL, 0}, inner = line->text;
    const char *shell = nvtxt_base_name(line->shell);
    *name = (struct step_name){.program = nvtxt_slice_of(shell)};
    bool goes_on = step_name_is_shell(shell);
    for (int depth = 0; goes_on && depth < DEPTH; depth++) {
        goes_on = find_command(inner, &command) && peel(&command);
        inner = command;
    }
    if (command.len > 0) {
        name_command(name, command, line);
    }
    if (!*name->text) {
        snprintf(name->text, sizeof(name->text), "%.60s%s%.38s", shell, *line->target ? " " : "",
                 line->target);
    }
    clean(name->text);
}
