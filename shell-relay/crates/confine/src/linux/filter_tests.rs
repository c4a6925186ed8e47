use super::*;

/// The kernel's treatment of a call: the value of the filter that is reached.
fn run(program: &[sock_filter], processor: u32, number: u32, arguments: &[u64]) -> u32 {
    let mut word = 0;
    let mut at = 0;
    loop {
        let instruction = &program[at];
        at += 1;
        match instruction.code {
            LOAD => {
                word = match instruction.k {
                    NUMBER => number,
                    PROCESSOR => processor,
                    offset => u32::try_from(arguments[(offset - ARGUMENTS) as usize / 8] & 0xffff_ffff).unwrap(),
                }
            }
            AND => word &= instruction.k,
            JUMP => at += instruction.k as usize,
            RETURN => return instruction.k,
            code => {
                let holds = if code == IS_EQUAL { word == instruction.k } else { word >= instruction.k };
                at += usize::from(if holds { instruction.jt } else { instruction.jf });
            }
        }
    }
}

fn refused() -> Action {
    Action::Refuse(errno(libc::EPERM))
}

#[test]
fn each_number_reaches_its_own_row() {
    let own = processor().unwrap();
    let other = |number| if number == 91 { Action::Refuse(38) } else { refused() };
    let listed = [0, 3, 5, 6, 7, 90, 91, 92, 300, 469];
    let program = program(&listed.map(|number| (number, other(number)))).unwrap();
    for number in 0..FIRST_UNKNOWN {
        let expected = match number {
            91 => REFUSE | 38,
            number if listed.contains(&number) => REFUSE | errno(libc::EPERM),
            _ => ALLOW,
        };
        assert_eq!(run(&program, own, number, &[0; 6]), expected, "{number}");
    }
}

#[test]
fn far_jumps_lead_where_near_ones_would() {
    let own = processor().unwrap();
    let rows: Vec<Row> =
        (0..FIRST_UNKNOWN).filter(|number| number % 2 == 1).map(|number| (number, refused())).collect();
    let program = program(&rows).unwrap();
    assert!(program.iter().any(|instruction| instruction.code == JUMP));
    for number in 0..FIRST_UNKNOWN {
        let is_allowed = run(&program, own, number, &[0; 6]) == ALLOW;
        assert_eq!(is_allowed, number % 2 == 0, "{number}");
    }
}

#[test]
fn unknown_numbers_do_not_exist_and_other_processors_are_not_served() {
    let own = processor().unwrap();
    let program = program(&[]).unwrap();
    for number in [FIRST_UNKNOWN, 512, 0x4000_0000, 0x4000_0029, u32::MAX] {
        assert_eq!(run(&program, own, number, &[0; 6]), REFUSE | errno(libc::ENOSYS));
    }
    assert_eq!(run(&program, 0x4000_0003, 1, &[0; 6]), KILL_PROCESS);
}

#[test]
fn arguments_decide_one_after_the_other() {
    let own = processor().unwrap();
    let pair = Action::By { argument: 1, mask: 0xf, cases: vec![(5, Action::Allow)] };
    let families = Action::By { argument: 0, mask: u32::MAX, cases: vec![(16, Action::Allow), (1, pair)] };
    let requests = (7..90).step_by(3).map(|request| (request, Action::Allow)).collect();
    let requests = Action::By { argument: 1, mask: u32::MAX, cases: requests };
    let program = program(&[(41, families), (16, requests)]).unwrap();
    let is_allowed = |number, first, second| run(&program, own, number, &[first, second, 0, 0, 0, 0]) == ALLOW;
    for (family, kind, expected) in
        [(1, 5, true), (1, 0x8_0005, true), (1, 1, false), (16, 9, true), (2, 5, false), (1 << 32 | 16, 0, true)]
    {
        assert_eq!(is_allowed(41, family, kind), expected, "{family} {kind}");
    }
    for request in 0..100 {
        assert_eq!(is_allowed(16, 0, request), (7..90).contains(&request) && request % 3 == 1, "{request}");
    }
}
