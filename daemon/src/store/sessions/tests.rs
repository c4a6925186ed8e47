mod conformance;
mod file;
