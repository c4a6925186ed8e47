//! Sorts errors into families.

use cohab_model_api::ProviderErrorKind as Kind;

use super::ErrorBody;

impl ErrorBody {
    /// The family of the error. The order of the checks matters: the first one that fits decides.
    pub fn kind(&self) -> Kind {
        let status = self.status.unwrap_or(0);
        if self.has_code(&["tool_use_failed"]) {
            return Kind::ToolUseFailed;
        }
        if self.is_overflow() {
            return Kind::ContextOverflow;
        }
        if self.is_billing(status) {
            return Kind::Billing;
        }
        if self.is_auth(status) {
            return Kind::Auth;
        }
        if self.has_code(MODEL_CODES) || status == 404 || self.names_a_missing_model() {
            return Kind::ModelNotFound;
        }
        self.kind_by_status(status)
    }

    fn kind_by_status(&self, status: u16) -> Kind {
        if status == 429 || self.has_code(&["resource_exhausted", "rate_limit_error", "rate_limit_exceeded"]) {
            return Kind::RateLimit;
        }
        if matches!(status, 503 | 529) || self.has_code(&["overloaded_error", "overloaded", "unavailable"]) {
            return Kind::Overloaded;
        }
        let is_server_code =
            self.has_code(&["api_error", "server_error", "internal_server_error", "timeout_error", "internal"]);
        // A 4xx status is more reliable than a code that gateways put on every error.
        if matches!(status, 408 | 409 | 500..)
            || (is_server_code && !matches!(status, 400..500))
            || (status == 0 && !self.has_code(&["invalid_request_error"]))
        {
            return Kind::Server;
        }
        Kind::InvalidRequest
    }

    fn is_billing(&self, status: u16) -> bool {
        let text = self.text.to_ascii_lowercase();
        status == 402
            || self.has_code(&[
                "insufficient_quota",
                "credit_balance_exhausted",
                "enforced_spend_limit_reached",
                "billing_error",
            ])
            || (status == 400 && text.contains("credit balance is too low"))
    }

    fn is_auth(&self, status: u16) -> bool {
        let text = self.text.to_ascii_lowercase();
        let names_key = self.has_code(&["api_key_invalid", "invalid_api_key"]) || text.contains("incorrect api key");
        status == 401
            || (status == 403 && !self.has_code(&["moderation"]))
            || (status == 400 && names_key)
            || (status == 0 && self.has_code(&["authentication_error", "permission_error", "invalid_api_key"]))
    }

    fn names_a_missing_model(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        self.status == Some(400)
            && (MODEL_TEXTS.iter().any(|phrase| text.contains(phrase))
                || (text.contains("model") && text.contains("does not exist")))
    }

    /// Whether a filter in front of the model refused the question: an answer, not an error.
    pub fn is_refusal(&self) -> bool {
        match self.status {
            Some(400) => self.has_code(&["content_filter", "content_policy_violation"]),
            Some(403) => self.has_code(&["moderation"]),
            _ => false,
        }
    }

    /// Whether the text or codes mention a model. A 404 that does not mention one comes from a wrong base URL.
    pub(super) fn mentions_model(&self, model: &str) -> bool {
        let text = self.text.to_ascii_lowercase();
        !self.is_html
            && (self.has_code(&["model_not_found", "deploymentnotfound", "not_found_error"])
                || text.contains("model")
                || (!model.is_empty() && text.contains(&model.to_ascii_lowercase())))
    }
}

const MODEL_CODES: &[&str] =
    &["model_not_found", "invalid_model", "deploymentnotfound", "not_found_error", "not_found"];

const MODEL_TEXTS: &[&str] =
    &["model identifier is invalid", "is not a valid model", "invalid model:", "model not exist", "model not found"];
