extension Store {
    /// Removes what ``copy(directory:into:options:)`` made, and what was made of it since. The lock's file stays, as it does
    /// wherever a folder was refused.
    package static func discard(directory: String) {
        let names = FolderNames(directory: directory)
        guard let lock = try? takeLock(names), let contents = try? FolderContents(names) else { return }
        withExtendedLifetime(lock) {
            // The mark first: without it the rest is refused, should that not go.
            try? FileSystem.remove(names.mark)
            for number in contents.segments { try? FolderNames.removeDatabase(names.segment(number)) }
            try? FolderNames.removeDatabase(names.state)
            for path in contents.unfinished + contents.orphans + [names.halfMade] { try? FileSystem.remove(path) }
        }
    }
}
