import Glibc
import IsletFilter

/// Files of scenarios on the disk.
enum ScenarioFile {
    /// A longer file holds no scenarios.
    static let bytesMax = 1 << 20
    /// More files than this are not read from one folder.
    static let filesMax = 1_000
    /// How many folders in a folder are named.
    private static let toldMax = 5
    /// Longer nobody waits for a file to be understood: aliases as names of members can take for ever.
    private static let patience = Duration.seconds(5)

    /// The files that a path means: itself, or the YAML files in it, by their names.
    static func paths(_ path: String) throws(ScenarioProblem) -> [String] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { return [path] }
        let (names, folders) = try entries(path)
        let inner = folders.sorted().filter { (try? entries("\(path)/\($0)"))?.files.isEmpty == false }
        let told = inner.prefix(toldMax).joined(separator: ", ") + (inner.count > toldMax ? " …" : "")
        guard !names.isEmpty else {
            let advice = inner.isEmpty ? "" : "; folders in it are named by themselves: \(told)"
            throw ScenarioProblem(path: path, place: nil, text: "has no files that end in .yaml or .yml\(advice)")
        }
        guard names.count <= filesMax else {
            throw ScenarioProblem(
                path: path, place: nil, text: "has more than \(filesMax) YAML files: name some of them")
        }
        if !inner.isEmpty {
            Console.message("\(path): folders in it are not looked into, name them by themselves: \(told)".printable)
        }
        return names.sorted().map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
    }

    /// The names of the YAML files in a folder, and of the folders in it.
    private static func entries(_ path: String) throws(ScenarioProblem) -> (files: [String], folders: [String]) {
        guard let directory = opendir(path) else { throw unreadable(path, errno) }
        defer { closedir(directory) }
        var files: [String] = []
        var folders: [String] = []
        while let entry = readdir(directory) {
            let length = Int(entry.pointee.d_reclen)
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix(length).prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            if Int32(entry.pointee.d_type) == Int32(DT_DIR) {
                folders.append(name)
            } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
                files.append(name)
            }
        }
        return (files, folders)
    }

    /// The scenarios of a file.
    ///
    /// - Returns: what is wrong, where anything is.
    static func read(_ path: String) async -> Result<[Scenario], ScenarioProblems> {
        let text: String
        do throws(ScenarioProblem) {
            text = try self.text(path)
        } catch {
            return .failure(ScenarioProblems([error]))
        }
        let (readings, reading) = AsyncStream.makeStream(
            of: Result<[Scenario], ScenarioProblems>.self, bufferingPolicy: .bufferingOldest(1))
        Task.detached { reading.yield(ScenarioReading.read(text, path: path)) }
        let timer = Task.detached {
            try await Task.sleep(for: patience)
            let problem = ScenarioProblem(
                path: path, place: nil,
                text:
                    "cannot be understood within \(TimeText.span(Span(patience).milliseconds)): are names aliases?"
            )
            reading.yield(.failure(ScenarioProblems([problem])))
        }
        defer { timer.cancel() }
        for await result in readings { return result }
        return .failure(ScenarioProblems([ScenarioProblem(path: path, place: nil, text: "was not read")]))
    }

    private static func text(_ path: String) throws(ScenarioProblem) -> String {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                guard errno == EINTR else { throw unreadable(path, errno) }
                continue
            }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= bytesMax else {
                throw ScenarioProblem(
                    path: path, place: nil, text: "has more than \(bytesMax) bytes: use several files")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ScenarioProblem(path: path, place: nil, text: "is no text in UTF-8")
        }
        return text
    }

    private static func unreadable(_ path: String, _ code: Int32) -> ScenarioProblem {
        ScenarioProblem(path: path, place: nil, text: "cannot be read: \(String(cString: strerror(code)))")
    }
}
