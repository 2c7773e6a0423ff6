//! What an answer says about a case.
