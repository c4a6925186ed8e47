//! Lists the permitted device and file requests of a confined program: those that read, and those of line editing and job control.
//!
//! All others are refused. Some type into a terminal (`TIOCSTI`, `TIOCLINUX`), some change files without a writable descriptor
//! (flags and attributes of files, snapshots of btrfs). Numbers are those of x86-64, arm64 and riscv64.

pub(super) const ALLOWED: &[u32] = &[
    // Terminals: settings, 0x5401 to 0x5408.
    0x5401,
    0x5402,
    0x5403,
    0x5404,
    0x5405,
    0x5406,
    0x5407,
    0x5408, // TCGETS to TCSETAF
    0x5409,
    0x540a,
    0x540b, // TCSBRK, TCXONC, TCFLSH
    0x802c_542a,
    0x402c_542b,
    0x402c_542c,
    0x402c_542d, // TCGETS2 to TCSETSF2
    // Terminals: job control and size.
    0x540e,
    0x540f,
    0x5410,
    0x5411,
    0x5413,
    0x5422,
    0x5424,
    0x5425,
    0x5429, // TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ, TIOCNOTTY, TIOCGETD, TCSBRKP, TIOCGSID
    0x8004_5430,
    0x8004_5432,
    0x8004_5440, // TIOCGPTN, TIOCGDEV, TIOCGEXCL
    // Descriptors.
    0x541b,
    0x5421,
    0x5450,
    0x5451,
    0x5452,
    0x5460, // FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, FIOQSIZE
    // Files: block size, flags, versions, extents, labels.
    0x0000_0002,
    0x8008_6601,
    0x801c_581f,
    0x8008_7601,
    0xc020_660b,
    0x8100_9431,
    // Interfaces: SIOCGIFNAME, SIOCGIFCONF, -FLAGS, -ADDR, -DSTADDR, -BRDADDR, -NETMASK, -METRIC, -MEM, -MTU, -HWADDR, -ENCAP.
    0x8910,
    0x8912,
    0x8913,
    0x8915,
    0x8917,
    0x8919,
    0x891b,
    0x891d,
    0x891f,
    0x8921,
    0x8927,
    0x8925,
    // SIOCGIFSLAVE, -COUNT, -INDEX, -PFLAGS, -TXQLEN, SIOCGARP, SIOCGRARP, SIOCGIFMAP.
    0x8929,
    0x8938,
    0x8933,
    0x8935,
    0x8942,
    0x8954,
    0x8961,
    0x8970,
    // Wireless: SIOCGIWNAME, -NWID, -FREQ, -MODE, -SENS, -RANGE, -AP, -ESSID, -RATE, -TXPOW, -POWER.
    0x8b01,
    0x8b03,
    0x8b05,
    0x8b07,
    0x8b09,
    0x8b0b,
    0x8b15,
    0x8b1b,
    0x8b21,
    0x8b27,
    0x8b2d,
    // Namespaces: NS_GET_USERNS, -PARENT, -NSTYPE, -OWNER_UID.
    0xb701,
    0xb702,
    0xb703,
    0xb704,
];
