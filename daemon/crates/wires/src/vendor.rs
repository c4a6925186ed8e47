//! Finds the wire and the vendor for a name or an address.

use url::Url;

use super::{
    WIRES,
    wire::{Vendor, Wire},
};

/// A wire, and the vendor that speaks it.
#[derive(Clone, Copy)]
pub struct Spoken {
    /// The protocol.
    pub wire: &'static dyn Wire,
    /// The vendor, if it is known.
    pub vendor: Option<&'static Vendor>,
}

/// All vendors, wire by wire.
pub fn all() -> impl Iterator<Item = (&'static dyn Wire, &'static Vendor)> {
    WIRES.iter().flat_map(|wire| wire.vendors().iter().map(|vendor| (*wire, vendor)))
}

/// All names that [`named`] knows: wires, then vendors with other names than their wires.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = WIRES.iter().map(|wire| wire.name()).collect();
    for (_, vendor) in all() {
        if !names.contains(&vendor.id) {
            names.push(vendor.id);
        }
    }
    names
}

/// The meaning of `name` in the settings: a wire, with the vendor decided by the address, or a vendor, at any address.
pub fn named(name: &str) -> Option<Spoken> {
    if let Some(wire) = WIRES.iter().find(|wire| wire.name() == name) {
        return Some(Spoken { wire: *wire, vendor: None });
    }
    let (wire, vendor) = all().find(|(_, vendor)| vendor.id == name)?;
    Some(Spoken { wire, vendor: Some(vendor) })
}

/// The wire and vendor of the host of `url`.
pub fn at(url: &Url) -> Option<Spoken> {
    let (wire, vendor) = all().find(|(_, vendor)| vendor.owns(url))?;
    Some(Spoken { wire, vendor: Some(vendor) })
}

impl Vendor {
    /// Whether `url` is on a host of the vendor's: same scheme, host and port as its own address, or below one of its domains over HTTPS.
    /// A key does not go over plain HTTP to another machine.
    pub fn owns(&self, url: &Url) -> bool {
        let is_own = Url::parse(self.base_url).is_ok_and(|own| own.origin() == url.origin());
        let is_below = || {
            let host = url.host_str().unwrap_or_default();
            let is_below_one = |domain: &&str| host.strip_suffix(domain).is_some_and(|label| label.ends_with('.'));
            self.domains.iter().any(is_below_one)
        };
        is_own || (url.scheme() == "https" && is_below())
    }

    /// Whether a key suffices to ask the vendor, because address and model are known. Some keys exist for other uses of a service, like
    /// downloads, and imply neither address nor model.
    pub fn lacks_only_key(&self, is_model_named: bool) -> bool {
        !self.base_url.is_empty() && (is_model_named || !self.default_model.is_empty())
    }

    /// Whether it is the user's own server, on this machine.
    pub fn is_local(&self) -> bool {
        self.base_url.starts_with("http://127.0.0.1")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_vendor_can_be_named_found_and_reached() {
        let mut ids = BTreeSet::new();
        for (wire, vendor) in all() {
            assert!(ids.insert(vendor.id), "{} stands twice", vendor.id);
            assert!(!vendor.name.is_empty(), "{}", vendor.id);
            let by_name = named(vendor.id).expect("it is known");
            assert_eq!(by_name.wire.name(), wire.name(), "{}", vendor.id);
            if let Ok(base) = Url::parse(vendor.base_url) {
                assert!(vendor.owns(&base), "{}", vendor.id);
                assert!(vendor.is_local() || base.scheme() == "https", "{}", vendor.id);
            } else {
                assert_eq!(vendor.base_url, "", "{}", vendor.id);
            }
        }
        for wire in WIRES {
            assert!(!wire.vendors().is_empty(), "{}", wire.name());
            assert!(named(wire.name()).is_some_and(|spoken| spoken.vendor.is_none()));
        }
    }

    #[test]
    fn a_vendor_owns_its_host_and_what_is_below_its_domain_over_tls_only() {
        let vendor = Vendor { base_url: "https://api.v.com/v1", domains: &["v.example"], ..super::super::wire::VENDOR };
        let owns = |url: &str| vendor.owns(&Url::parse(url).expect("a URL"));
        assert!(owns("https://api.v.com/other") && owns("https://a.b.v.example/x"));
        for url in [
            "http://api.v.com/v1",
            "https://api.v.com:8443/v1",
            "https://api.v.com.example",
            "http://a.v.example",
            "https://v.example",
            "https://evilv.example",
        ] {
            assert!(!owns(url), "{url}");
        }
    }
}
