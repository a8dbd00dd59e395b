package egress

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// refusedAlwaysOrPrivate is the rule for public addresses only.
func refusedAlwaysOrPrivate(addr netip.Addr) string {
	if reason := refusedAlways(addr); reason != "" {
		return reason
	}
	if special.SafeAddr(addr) == nil {
		return ""
	}
	switch {
	case addr.IsLoopback():
		return "this machine itself"
	case addr.IsPrivate():
		return "private"
	case addr.IsLinkLocalUnicast():
		return "link-local"
	}
	return "not on the public internet"
}

// special knows the address blocks that IANA lists as special-purpose.
var special = ssrf.New(ssrf.WithAnyPort())

// refusedAlways is the rule for every address: what can be reached there is never
// an API that somebody offers.
func refusedAlways(addr netip.Addr) string {
	for _, a := range append(embedded(addr), addr) {
		switch {
		case a.IsUnspecified():
			return "unspecified"
		case a.IsMulticast(), a == broadcast:
			return "not of one machine"
		case metadata[a]:
			return "a cloud's metadata service"
		}
	}
	return ""
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// metadata lists the addresses from which clouds hand their machines credentials.
var metadata = addresses(
	"169.254.169.254", // AWS, Azure, Google, Oracle, DigitalOcean, OpenStack and most others
	"fd00:ec2::254",   // AWS
	"169.254.170.2",   // AWS: containers
	"169.254.170.23",  // AWS: Kubernetes pods
	"fd00:ec2::23",    // AWS: Kubernetes pods
	"fd20:ce::254",    // Google
	"168.63.129.16",   // Azure: wire server; in a public block
	"100.100.100.200", // Alibaba
	"192.0.0.192",     // Oracle, first generation
	"169.254.42.42",   // Scaleway
	"fd00:42::42",     // Scaleway
	"169.254.0.23",    // Tencent
	"169.254.10.10",   // Tencent
	"fe80::a9fe:a9fe", // OpenStack
)

func addresses(texts ...string) map[netip.Addr]bool {
	set := make(map[netip.Addr]bool, len(texts))
	for _, text := range texts {
		set[netip.MustParseAddr(text)] = true
	}
	return set
}

// embedded lists the IPv4 addresses that gateways may take an IPv6 address for.
func embedded(addr netip.Addr) []netip.Addr {
	if !addr.Is6() {
		return nil
	}
	b := addr.As16()
	last := netip.AddrFrom4([4]byte(b[12:]))
	switch {
	case nat64.Contains(addr), localNAT64.Contains(addr):
		return []netip.Addr{last}
	case compatible.Contains(addr) && b[12] != 0: // not :: and ::1
		return []netip.Addr{last}
	case sixToFour.Contains(addr):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	}
	return nil
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")   // RFC 6052
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215
	compatible = netip.MustParsePrefix("::/96")          // RFC 4291, section 2.5.5.1
	sixToFour  = netip.MustParsePrefix("2002::/16")      // RFC 3056
)
