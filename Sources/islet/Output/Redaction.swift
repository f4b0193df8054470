/// What must not stand on a screen by accident.
package enum Redaction {
    /// What stands in the place of a secret.
    package static let mask = "••••"

    /// Whether a member of this name holds what gives access.
    package static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["token", "secret", "password", "passphrase", "apikey", "privatekey"].contains { name.hasSuffix($0) }
    }

    /// An endpoint without the name and the password that stand in it.
    package static func endpoint(_ url: String) -> String {
        guard let scheme = url.utf8Range(of: "://"), let at = url[scheme...].lastIndex(of: "@") else { return url }
        return "\(url[..<scheme])\(mask)\(url[at...])"
    }
}

extension String {
    /// Where what follows a separator begins.
    fileprivate func utf8Range(of separator: String) -> Index? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(separator) { return index(start, offsetBy: separator.count) }
            start = index(after: start)
        }
        return nil
    }
}
