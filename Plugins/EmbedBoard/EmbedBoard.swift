import Foundation
import PackagePlugin

/// Makes the files in a target's folder `Board` a part of the target.
@main
struct EmbedBoard: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = target.directoryURL.appending(path: "Board")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { !$0.lastPathComponent.hasPrefix(".") }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        let output = context.pluginWorkDirectoryURL.appending(path: "BoardFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding the board",
                executable: try context.tool(named: "islet-embed").url,
                arguments: [output.path] + files.map(\.path),
                inputFiles: files,
                outputFiles: [output])
        ]
    }
}
