//! What failures are about, and their kinds.

use cohab_protocol::{ErrorSubject, RequestId, WireErrorKind};

use super::{CALL, TURN};

pub(super) fn error_subjects() -> Vec<ErrorSubject> {
    vec![
        ErrorSubject::Connection,
        ErrorSubject::Turn(TURN),
        ErrorSubject::Request(RequestId(1)),
        ErrorSubject::Call(CALL),
    ]
}

pub(super) fn error_kinds() -> Vec<WireErrorKind> {
    vec![
        WireErrorKind::Version,
        WireErrorKind::Protocol,
        WireErrorKind::Settings,
        WireErrorKind::Provider,
        WireErrorKind::Busy,
        WireErrorKind::NotFound,
        WireErrorKind::Internal,
    ]
}
