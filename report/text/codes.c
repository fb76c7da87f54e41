// SPDX-License-Identifier: Apache-2.0
//
// The codes of message.h, one table for the manual page.
#include "report/text/message.h"

const struct report_message_code report_message_codes[] = {
    {"syntax", "Something else is expected there, such as a brace."},
    {"bad-string", "A string that does not end in its line, or an escape that is none."},
    {"bad-number", "A number that is none, or that touches a word."},
    {"number-out-of-range", "A number that the field does not take."},
    {"wrong-type", "A value of another type than the field has."},
    {"unknown-enum", "A name or number that is no value of the field."},
    {"extension", "An extension or Any, such as [a.b]."},
    {"too-deep", "More than 32 messages in each other."},
    {"too-large", "A file of more than 1 MiB."},
    {"not-utf8", "Bytes that are not UTF-8, in the file or in what a string means."},
    {"unreadable", "The file cannot be read."},
    {"unknown-field", "The message has no field of that name."},
    {"duplicate-field", "A field that may stand once stands twice."},
    {"missing-field", "A required field is not there."},
    {"bad-identifier", "An identifier of other characters than letters, digits, '_', '-', '.'."},
    {"duplicate-identifier", "A warning: an earlier file has the identifier, and counts."},
    {"regex-not-here", "A regex: outside tables and charts of a Body."},
    {"bad-regex", "A regular expression that PCRE2 refuses, or that is too costly."},
    {"bad-expression", "An expression of a metric or of a rule that cannot be read."},
    {"duplicate-definition", "A definition of a metric that is there already."},
    {"definition-cycle", "Definitions that need each other in a circle, which is named."},
    {"missing-metric", "A required metric is missing."},
    {"unknown-metric", "A warning: there is no metric of that name."},
    {"unknown-section", "A warning: there is no section of that identifier."},
    {"unsafe-folder", "A rule that is a program, in a file or folder that others may write."},
    {"bad-rule", "A rule that lacks something, or says what cannot be."},
    {"bad-sql", "A query of a rule that is not one SELECT of what may be read."},
    {"bad-metrics", "A file of --metrics-from, or one metric of it, that cannot be taken."},
    {0},
};
