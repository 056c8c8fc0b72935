//! Policies, datasets, analysts: questions to answers.
