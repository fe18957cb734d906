//! Lists that once failed, each named by what was wrong.
