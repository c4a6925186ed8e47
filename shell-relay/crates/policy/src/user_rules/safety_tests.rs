use proptest::prelude::*;

use super::super::{Loaded, parse_on};
use super::*;

const OWN: [&str; 6] = [
    "",
    "[safety]\nlevel = \"permissive\"\n",
    "[safety]\nlevel = \"balanced\"\n",
    "[safety]\nlevel = \"strict\"\n[safety.personal]\nemail = \"keep\"\n",
    "[safety.stages]\ninjection = \"off\"\n",
    "safety = { level = \"permissive\", personal = { iban = \"redact\" }, stages = { guard = \"firm\" } }\n",
];

fn loaded(text: &str, origin: Origin) -> Loaded {
    parse_on(text, origin, "")
}

fn in_force(texts: &[(&str, Origin)]) -> Safety {
    let mut all = Loaded::default();
    texts.iter().for_each(|(text, origin)| all.join(&loaded(text, *origin)));
    all.safety.in_force()
}

fn is_as_strict(one: Safety, other: Safety) -> bool {
    let personal = PersonalData::NAMES.iter().all(|name| one.personal.contains(name) || !other.personal.contains(name));
    one.injection >= other.injection && one.guard >= other.guard && personal
}

#[test]
fn a_level_sets_what_is_not_set_and_no_level_is_balanced() {
    let own = |text| in_force(&[(text, Origin::Own)]);
    assert_eq!(own(""), Safety::at(SafetyLevel::Balanced));
    assert_eq!(own(OWN[1]), Safety::at(SafetyLevel::Permissive));
    let strict = own(OWN[3]);
    assert_eq!((strict.level, strict.injection, strict.guard), (SafetyLevel::Strict, Injection::Ask, Guard::Firm));
    assert!(!strict.personal.contains("email") && strict.personal.contains("ip"), "its own key counts");
    let inline = own(OWN[5]);
    assert_eq!((inline.injection, inline.guard), (Injection::Off, Guard::Firm));
    assert!(inline.personal.contains("iban") && !inline.personal.contains("email"));
    assert_eq!(own(OWN[4]).injection, Injection::Off);
}

#[test]
fn of_several_files_the_strictest_value_of_each_key_counts() {
    let both = in_force(&[(OWN[1], Origin::Own), (OWN[3], Origin::Own)]);
    assert_eq!((both.level, both.injection), (SafetyLevel::Strict, Injection::Ask));
    assert!(!both.personal.contains("email"), "neither wants that");
    let phone = in_force(&[("[safety.personal]\nphone = \"redact\"\n", Origin::Own), (OWN[1], Origin::Own)]);
    assert!(phone.personal.contains("phone") && phone.injection == Injection::Off);
}

#[test]
fn a_project_may_only_tighten_and_is_told_where_it_does_not() {
    for text in [
        "[safety]\nlevel = \"permissive\"\n",
        "[safety.stages]\ninjection = \"off\"\n",
        "[safety.stages]\nguard = \"usual\"\n",
        "[safety.personal]\nip = \"keep\"\n",
    ] {
        let found = loaded(text, Origin::Project);
        assert_eq!(found.refused[0].reason, "a project may only make things stricter", "{text}");
        assert!(!found.refused[0].may_tighten, "what it may not do makes nothing stricter");
        assert!(loaded(text, Origin::Own).refused.is_empty(), "{text}");
    }
    let project = in_force(&[(OWN[1], Origin::Own), ("[safety.stages]\ninjection = \"note\"\n", Origin::Project)]);
    assert_eq!(project.injection, Injection::Note);
}

#[test]
fn what_makes_no_sense_is_told_by_its_place_and_counts_as_the_strictest() {
    for (text, place, reason) in [
        ("[safety]\nlevel = \"high\"\n", (2, 9), "`level` is none of \"permissive\", \"balanced\", \"strict\""),
        ("[safety.stages]\n  injection = 1\n", (2, 15), "`injection` is none of \"off\", \"note\", \"ask\""),
        ("[safety.personal]\nemail = true\n", (2, 9), "`email` is none of \"keep\", \"redact\""),
        ("[safety]\nlevels = 1\n", (2, 1), "`levels` is not known; there are level, stages, personal"),
        ("[safety.stages]\nredaction = \"off\"\n", (2, 1), "`redaction` is not known; there are injection, guard"),
        ("safety = 3\n", (1, 10), "`safety` is no table"),
        ("[safety]\npersonal = \"all\"\n", (2, 12), "`personal` is no table"),
    ] {
        let found = loaded(text, Origin::Own);
        let refusal = &found.refused[0];
        assert_eq!(((refusal.line, refusal.column), refusal.reason.as_str()), (place, reason), "{text}");
        assert!(refusal.may_tighten && found.refused.len() == 1);
    }
    assert_eq!(in_force(&[("[safety]\nlevel = \"high\"\n", Origin::Own)]), Safety::at(SafetyLevel::Strict));
    assert_eq!(in_force(&[("[safety\n", Origin::Own)]), Safety::at(SafetyLevel::Strict), "no TOML at all");
}

proptest! {
    #[test]
    fn another_file_never_makes_anything_laxer(own in 0..OWN.len(), other in 0..OWN.len(), is_project: bool) {
        let origin = if is_project { Origin::Project } else { Origin::Own };
        let alone = in_force(&[(OWN[own], Origin::Own)]);
        let both = in_force(&[(OWN[own], Origin::Own), (OWN[other], origin)]);
        // Without a setting a key has its default; one file may set it lower, two never lower than either.
        let is_silent = OWN[own].is_empty() || own == 4;
        prop_assert!(is_silent && !is_project || is_as_strict(both, alone), "{alone:?} {both:?}");
    }
}
