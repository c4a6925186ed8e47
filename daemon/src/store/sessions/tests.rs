mod conformance;
mod damage;
mod file;
