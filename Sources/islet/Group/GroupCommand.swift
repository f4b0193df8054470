import ArgumentParser

/// `islet group …`: what apps share.
struct GroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "Keys and values that an app and its extensions share.",
        discussion: """
            EXAMPLES:
              islet group create group.com.example --member com.example.watch
              islet group set group.com.example last-city '{"city":"berlin"}'
              islet group get group.com.example last-city --app com.example.watch
              islet group list group.com.example --prefix last-
              islet group notify group.com.example moved
              islet tail com.example.delivery/group/

            Only a group's members see its keys. Each change is an event on the stream of
            the app that made the group.
            """,
        subcommands: [
            Create.self, Admit.self, Leave.self, Remove.self, Info.self, Set.self, Get.self, List.self, Delete.self,
            Notify.self,
        ])
}
