// SPDX-License-Identifier: Apache-2.0
//
// The views of a store, as SQL: those for people and dashboards, ANALYSIS_DETAILS, and the two
// that some trace converters refuse to work without. Texts only; schema.c runs them.
#pragma once

extern const char store_views_sql[];
extern const char store_cupti_sql[]; // the two compatibility views
