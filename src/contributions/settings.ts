import { AGENT_COLORS } from '../common/agent-icon.ts'
import { EDITOR_TOOL_NAMES } from '../common/editor-tool-names.ts'
import { keepAgentsRunningChoices, protocolChoices } from '../common/settings.ts'
import { TOOL_KINDS } from '../common/tool-kinds.ts'
import { type SettingsGroup, text } from './contribution.ts'

const PROTOCOL = {
  type: 'string',
  enum: protocolChoices,
  enumDescriptions: [
    text('settings.protocol.stable', 'Version 1 (released)'),
    text('settings.protocol.latest', 'Draft of version 2, with fallback to version 1'),
  ],
}

const TOOL_KIND = {
  type: 'string',
  enum: TOOL_KINDS,
  enumDescriptions: [
    text('settings.permissionRules.kind.read', 'Reads files or data.'),
    text('settings.permissionRules.kind.edit', 'Changes or creates files.'),
    text('settings.permissionRules.kind.delete', 'Deletes files.'),
    text('settings.permissionRules.kind.move', 'Moves or renames files.'),
    text('settings.permissionRules.kind.search', 'Searches for information.'),
    text('settings.permissionRules.kind.execute', 'Runs commands or code.'),
    text('settings.permissionRules.kind.think', 'Plans or reasons.'),
    text('settings.permissionRules.kind.fetch', 'Fetches external data.'),
    text('settings.permissionRules.kind.switch_mode', 'Switches the session to another mode.'),
    text('settings.permissionRules.kind.other', 'Anything else.'),
  ],
}

/**
 * The groups of the Settings editor, with the settings as JSON schemas. The accepted values, defaults and scopes are in
 * `common/settings.ts`.
 */
export const settings: readonly SettingsGroup[] = [
  {
    title: text('settings.group.agents', 'Agents'),
    settings: {
      agents: {
        type: 'object',
        markdownDescription: text(
          'settings.agents',
          'Configures agents by ID. Each agent communicates with the Agent Client Protocol, over its standard input and output or at a `url`. An entry without both changes only the specified properties of the well-known agent with that ID. `${workspaceFolder}`, `${userHome}` and `${env:NAME}` are replaced in all values.',
        ),
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          properties: {
            name: {
              type: 'string',
              description: text('settings.agents.name', 'The name shown for the agent. Defaults to its ID.'),
            },
            command: {
              type: 'string',
              minLength: 1,
              markdownDescription: text(
                'settings.agents.command',
                'The program to run: an absolute path or the name of a program on the `PATH` of your login shell.',
              ),
            },
            args: {
              type: 'array',
              items: { type: 'string' },
              default: [],
              markdownDescription: text('settings.agents.args', 'The arguments passed to the program.'),
            },
            env: {
              type: 'object',
              additionalProperties: { type: 'string' },
              default: {},
              markdownDescription: text(
                'settings.agents.env',
                "Environment variables to add. Don't store secrets here. Use `${env:NAME}` to pass a variable from your shell.",
              ),
            },
            cwd: {
              type: 'string',
              markdownDescription: text(
                'settings.agents.cwd',
                "The directory in which the program starts. Doesn't affect a session's working directory. Defaults to the first workspace folder.",
              ),
            },
            url: {
              type: 'string',
              pattern: '^(?:wss?|https?)://|^\\$\\{',
              markdownDescription: text(
                'settings.agents.url',
                'In place of `command`: the URL of an agent on a server, `wss:` for a WebSocket or `https:` for streamable HTTP. `ws:` and `http:` are only for this machine. The agent gets your prompts, the files that you add to them and the MCP servers that it supports over HTTP, with their headers.',
              ),
            },
            headers: {
              type: 'object',
              additionalProperties: { type: 'string' },
              default: {},
              markdownDescription: text(
                'settings.agents.headers',
                "HTTP headers for `url`. Don't store secrets here. `${input:NAME}` asks for a value once and keeps it in VS Code's secret storage.",
              ),
            },
            sharesFiles: {
              type: 'boolean',
              default: false,
              markdownDescription: text(
                'settings.agents.sharesFiles',
                'Whether the agent at `url` has the files of this machine, at the same paths or at those of `pathMappings`. It may then read and write them through VS Code and run commands in terminals here. At the same paths, it may also use MCP servers of this machine.',
              ),
            },
            pathMappings: {
              type: 'array',
              maxItems: 100,
              default: [],
              items: {
                type: 'object',
                required: ['localRoot', 'remoteRoot'],
                additionalProperties: false,
                properties: {
                  localRoot: {
                    type: 'string',
                    minLength: 1,
                    markdownDescription: text(
                      'settings.agents.pathMappings.localRoot',
                      'The absolute path of the folder on this machine, for example `${workspaceFolder}`.',
                    ),
                  },
                  remoteRoot: {
                    type: 'string',
                    minLength: 1,
                    markdownDescription: text(
                      'settings.agents.pathMappings.remoteRoot',
                      "The absolute path of the folder on the agent's machine, also of Windows.",
                    ),
                  },
                },
              },
              markdownDescription: text(
                'settings.agents.pathMappings',
                "Folders that the agent at `url` has at other paths, as a copy or, with `sharesFiles`, the same files. Parley translates their paths, so the agent's links and diffs open the files here. Paths elsewhere on the agent's machine are never taken for files here. The longest path decides.",
              ),
            },
            icon: {
              type: 'string',
              markdownDescription: text(
                'settings.agents.icon',
                'The name of a [codicon](https://microsoft.github.io/vscode-codicons/dist/codicon.html), such as `sparkle`.',
              ),
            },
            color: {
              type: 'string',
              enum: AGENT_COLORS,
              markdownDescription: text(
                'settings.agents.color',
                "Controls the color of the agent's icon, which distinguishes its sessions. By default, the icon has the color of text.",
              ),
            },
            account: {
              type: 'object',
              required: ['of', 'folder'],
              additionalProperties: false,
              properties: {
                of: {
                  type: 'string',
                  minLength: 1,
                  description: text(
                    'settings.agents.account.of',
                    'The ID of the agent: claude, codex, gemini, grok or qwen.',
                  ),
                },
                folder: {
                  type: 'string',
                  minLength: 1,
                  markdownDescription: text(
                    'settings.agents.account.folder',
                    'The folder in which the agent keeps this sign-in and its own settings and sessions: an absolute path, or one that begins with `~/`.',
                  ),
                },
              },
              markdownDescription: text(
                'settings.agents.account',
                "Makes this entry another account of an agent, with a sign-in of its own. Everything that the entry doesn't set comes from that agent. Only user settings can define accounts. *Add Account…* in *Manage Agents* adds an entry.",
              ),
            },
            protocol: {
              ...PROTOCOL,
              markdownDescription: text(
                'settings.agents.protocol',
                'Controls the preferred protocol version for this agent. Overrides `#parley.protocol#`.',
              ),
            },
            systemPrompt: {
              type: ['string', 'object'],
              required: ['text'],
              additionalProperties: false,
              properties: {
                text: {
                  type: 'string',
                  description: text('settings.systemPrompt.text', 'The system prompt.'),
                },
                mode: {
                  type: 'string',
                  enum: ['append', 'override'],
                  default: 'append',
                  enumDescriptions: [
                    text('settings.systemPrompt.append', "Add to the agent's own instructions."),
                    text(
                      'settings.systemPrompt.override',
                      "Replace the agent's own instructions if the agent supports it.",
                    ),
                  ],
                },
              },
              markdownDescription: text(
                'settings.agents.systemPrompt',
                'Configures additional instructions for this agent. Overrides `#parley.systemPrompt#`. An object with `text` and `"mode": "override"` replaces the agent\'s own instructions if the agent supports it.',
              ),
            },
            defaultOptions: {
              type: 'object',
              additionalProperties: { type: ['string', 'boolean'] },
              markdownDescription: text(
                'settings.agents.defaultOptions',
                'Configures the options with which new sessions of this agent start: the value of each, by its category (`mode`, `model`, `thought_level`) or ID. *Use as Default* in the menus below the input adds them.',
              ),
            },
          },
          defaultSnippets: [
            {
              label: text('settings.agents.snippet', 'Add an agent'),
              body: { name: '${1:My Agent}', command: '${2:my-agent}', args: ['${3:--acp}'] },
            },
          ],
        },
        defaultSnippets: [
          {
            label: text('settings.agents.snippet', 'Add an agent'),
            body: {
              '${1:my-agent}': { name: '${2:My Agent}', command: '${3:my-agent}', args: ['${4:--acp}'] },
            },
          },
        ],
      },
      defaultAgent: {
        type: 'string',
        examples: [
          'claude',
          'codex',
          'gemini',
          'copilot',
          'opencode',
          'qwen',
          'cursor',
          'goose',
          'kimi',
          'auggie',
          'grok',
          'kilo',
          'junie',
          'vibe',
          'cline',
          'droid',
          'demo',
        ],
        markdownDescription: text(
          'settings.defaultAgent',
          'Controls which agent *New Session* starts, by its ID. If empty, uses the most recently used agent. [Select an agent](command:parley.selectDefaultAgent).',
        ),
      },
      useLastOptions: {
        type: 'boolean',
        markdownDescription: text(
          'settings.useLastOptions',
          "Controls whether new sessions start with the mode, model and other options that you chose last with the agent. They override the agent's `defaultOptions`.",
        ),
      },
      permissionRules: {
        type: 'array',
        markdownDescription: text(
          'settings.permissionRules',
          'Configures rules that answer permission requests automatically. In each scope (workspace folder, workspace, user), the first matching rule applies. Between scopes, the strictest rule applies: reject, then ask, then allow. Omitted properties match everything. Rules never allow anything outside a session\'s folders, and no rules apply in Restricted Mode. Requests that match no rule are shown to you. To allow a request, a rule must match every command of a command line and every file of a tool call. At the end of a command, `*` allows only arguments that are known to do no harm, of programs that read (`git log`, `grep`, `ls`), and `**` allows anything the program can do. Rules never allow command lines that can\'t be analyzed reliably (`$(…)`, variables, redirects, `NAME=value` before a command) or changes to protected files (`.vscode`, `.git`, Git hooks, `.code-workspace`, `.mcp.json`, settings of agents).\n\nFor example: `{ "command": "npm test **", "action": "allow" }`, `{ "kind": "edit", "path": "src/**", "action": "allow" }`, `{ "agent": "claude", "command": "git push *", "action": "reject" }`.',
        ),
        items: {
          type: 'object',
          required: ['action'],
          additionalProperties: false,
          minProperties: 2,
          defaultSnippets: [
            {
              label: text('settings.permissionRules.snippet.allowCommand', 'Allow a command'),
              body: { command: '${1:npm test **}', action: 'allow' },
            },
            {
              label: text('settings.permissionRules.snippet.allowPath', 'Allow edits in a folder'),
              body: { kind: 'edit', path: '${1:src/**}', action: 'allow' },
            },
            {
              label: text('settings.permissionRules.snippet.rejectCommand', 'Reject a command'),
              body: { command: '${1:git push *}', action: 'reject' },
            },
          ],
          properties: {
            agent: {
              type: 'string',
              minLength: 1,
              markdownDescription: text(
                'settings.permissionRules.agent',
                'The ID of the agent that the rule applies to, with its accounts. `*` or empty: all agents.',
              ),
            },
            kind: {
              markdownDescription: text(
                'settings.permissionRules.kind',
                'The tool kind, or several kinds, as reported by the agent.',
              ),
              anyOf: [TOOL_KIND, { type: 'array', minItems: 1, items: TOOL_KIND }],
            },
            command: {
              type: 'string',
              minLength: 1,
              examples: ['npm test', 'git log *', 'npm test **'],
              markdownDescription: text(
                'settings.permissionRules.command',
                'The command as typed. `*` matches any part of a word or, as the last word, the rest of the command. A rule with `*` that allows a command allows only arguments that are known to do no harm, of programs that read: `git log *`. For other programs, write the whole command, or `**` at the end for anything the program can do: `npm test **`. A rule that asks or rejects matches if any command of the line matches. A rule that allows must match all of them.',
              ),
            },
            path: {
              type: 'string',
              minLength: 1,
              examples: ['src/**', '**/*.md'],
              markdownDescription: text(
                'settings.permissionRules.path',
                "A path pattern relative to the session's folders: `src/**`, `**/*.md`. Symbolic links are resolved first. A tool call without known files matches no path.",
              ),
            },
            tool: {
              type: 'string',
              minLength: 1,
              markdownDescription: text(
                'settings.permissionRules.tool',
                'One of the editor tools (`#parley.editorTools#`): `vscode.rename_symbol`, or `vscode.*` for all.',
              ),
            },
            action: {
              type: 'string',
              enum: ['allow', 'ask', 'reject'],
              enumDescriptions: [
                text('settings.permissionRules.allow', 'Allow once without asking.'),
                text('settings.permissionRules.ask', 'Ask, and ignore the rules below.'),
                text('settings.permissionRules.reject', 'Reject once without asking.'),
              ],
              description: text('settings.permissionRules.action', 'What to do with a matching request.'),
            },
          },
        },
      },
      acceptEverything: {
        type: 'boolean',
        markdownDescription: text(
          'settings.acceptEverything',
          "Controls whether *Accept Everything* can be chosen for a session, at the prompt: then permission requests of that session are accepted. Also then, Parley asks before anything outside the session's folders, before changes to protected files, and about what it can't analyze reliably.",
        ),
      },
      sessionLimit: {
        type: 'object',
        markdownDescription: text(
          'settings.sessionLimit',
          'Configures how much a session may use. At 80 %, Parley warns you; at 100 %, it asks whether to continue, and meanwhile sends no prompts. To change the limit of one session, run *Parley: Show Usage and Cost*. A workspace can only lower these limits.',
        ),
        additionalProperties: false,
        properties: {
          cost: {
            type: 'number',
            exclusiveMinimum: 0,
            description: text(
              'settings.sessionLimit.cost',
              "In the currency that the agent reports. Has no effect for agents that don't report their cost.",
            ),
          },
          minutes: {
            type: 'number',
            exclusiveMinimum: 0,
            description: text(
              'settings.sessionLimit.minutes',
              'For how many minutes turns may run, not counting the time for which they wait for you.',
            ),
          },
          tokens: {
            type: 'number',
            exclusiveMinimum: 0,
            description: text(
              'settings.sessionLimit.tokens',
              "Tokens in and out. Has no effect for agents that don't report them.",
            ),
          },
        },
      },
      mcpServers: {
        type: 'object',
        markdownDescription: text(
          'settings.mcpServers',
          "Configures the MCP servers passed to every session. Uses the format of VS Code's `mcp.json`: `servers` by name and, for secrets, `inputs`. You're asked for the value of an `${input:…}` once. It's stored in VS Code's secret storage.",
        ),
        properties: {
          servers: {
            type: 'object',
            description: text(
              'settings.mcpServers.servers',
              'The servers by name. Use `command`, `args` and `env` for a local server, or `type` (`http` or `sse`), `url` and `headers` for a remote server.',
            ),
            additionalProperties: {
              type: 'object',
              defaultSnippets: [
                {
                  label: text('settings.mcpServers.snippet.local', 'Add a local server'),
                  body: { command: '${1:npx}', args: ['${2:-y}', '${3:package}'] },
                },
                {
                  label: text('settings.mcpServers.snippet.remote', 'Add a remote server'),
                  body: { type: 'http', url: '${1:https://example.com/mcp}' },
                },
              ],
              properties: {
                type: {
                  enum: ['stdio', 'http', 'sse'],
                  description: text(
                    'settings.mcpServers.type',
                    'How the server is reached. A server with a command needs no type.',
                  ),
                },
                command: {
                  type: 'string',
                  description: text('settings.mcpServers.command', 'The program that runs the server.'),
                },
                args: {
                  type: 'array',
                  items: { type: 'string' },
                  description: text('settings.mcpServers.args', 'The arguments of the program.'),
                },
                env: {
                  type: 'object',
                  additionalProperties: { type: ['string', 'number', 'null'] },
                  description: text(
                    'settings.mcpServers.env',
                    'Environment variables of the program. `null` removes a variable.',
                  ),
                },
                envFile: {
                  type: 'string',
                  description: text(
                    'settings.mcpServers.envFile',
                    'A file with environment variables of the program, one `NAME=value` per line.',
                  ),
                },
                cwd: {
                  type: 'string',
                  description: text('settings.mcpServers.cwd', 'The folder in which the program runs.'),
                },
                url: {
                  type: 'string',
                  description: text(
                    'settings.mcpServers.url',
                    'The address of a server that is reached over HTTP or SSE.',
                  ),
                },
                headers: {
                  type: 'object',
                  additionalProperties: { type: 'string' },
                  description: text(
                    'settings.mcpServers.headers',
                    'HTTP headers that are sent to the server. Use an input for a token: `${input:token}`.',
                  ),
                },
              },
            },
          },
          inputs: {
            type: 'array',
            description: text(
              'settings.mcpServers.inputs',
              'The values to ask for: `id`, `type` (`promptString` or `pickString`), `description`, `password`, `default`, `options`.',
            ),
            items: {
              type: 'object',
              defaultSnippets: [
                {
                  label: text('settings.mcpServers.snippet.input', 'Add a value to ask for'),
                  body: {
                    type: 'promptString',
                    id: '${1:token}',
                    description: '${2:Access token}',
                    password: true,
                  },
                },
              ],
            },
          },
        },
        defaultSnippets: [
          {
            label: text('settings.mcpServers.snippet.local', 'Add a local server'),
            body: {
              servers: { '${1:my-server}': { command: '${2:npx}', args: ['${3:-y}', '${4:package}'] } },
            },
          },
          {
            label: text('settings.mcpServers.snippet.remote', 'Add a remote server'),
            body: { servers: { '${1:my-server}': { type: 'http', url: '${2:https://example.com/mcp}' } } },
          },
        ],
      },
      mcpDiscovery: {
        type: 'object',
        markdownDescription: text(
          'settings.mcpDiscovery',
          'Controls in which files Parley looks for MCP servers, besides `#parley.mcpServers#`. If several define a server with the same name, the first one applies: `#parley.mcpServers#`, then these in order. Parley asks before it passes a server of the workspace to an agent.',
        ),
        additionalProperties: false,
        properties: {
          vscodeFolder: {
            type: 'boolean',
            description: text(
              'settings.mcpDiscovery.vscodeFolder',
              '.vscode/mcp.json of each workspace folder',
            ),
          },
          vscodeWorkspace: {
            type: 'boolean',
            description: text(
              'settings.mcpDiscovery.vscodeWorkspace',
              'The "mcp" settings of the .code-workspace file',
            ),
          },
          vscodeUser: {
            type: 'boolean',
            description: text(
              'settings.mcpDiscovery.vscodeUser',
              "The mcp.json of your VS Code profile; in a remote window, the remote machine's",
            ),
          },
          mcpJson: {
            type: 'boolean',
            description: text('settings.mcpDiscovery.mcpJson', '.mcp.json of each workspace folder'),
          },
        },
      },
      editorTools: {
        type: 'array',
        markdownDescription: text(
          'settings.editorTools',
          "Controls which editor tools agents get, as the MCP server `vscode` of each session. They give agents what only the editor knows: problems, definitions and references from language servers, open files, the selection, unsaved text, tasks, tests, terminals and the debugger. Before a tool changes files, runs something, controls the debugger or reads terminals, you're asked, unless a rule in `#parley.permissionRules#` with `tool` allows it. If empty, agents get no editor tools. A workspace can only take tools away.",
        ),
        uniqueItems: true,
        items: {
          type: 'string',
          enum: EDITOR_TOOL_NAMES,
        },
      },
      editorToolsInChat: {
        type: 'boolean',
        markdownDescription: text(
          'settings.editorToolsInChat',
          "Controls whether VS Code's own chat gets the editor tools in `#parley.editorTools#`, too, as the MCP server *VS Code (Parley)*. Before a tool changes files, runs something or reads terminals, a dialog asks you; permission rules don't apply, and the changes aren't part of a session.",
        ),
      },
      'terminalAgents.claude': {
        type: 'boolean',
        markdownDescription: text(
          'settings.terminalAgents.claude',
          'Controls whether Claude Code in a terminal can use the editor. Claude Code then sees your selection, open files, errors and warnings, and shows the changes that it proposes in diff editors, where you accept or reject them. New integrated terminals connect automatically; in others, run `/ide`. Has no effect in Restricted Mode or while the extension *Claude Code* is enabled.',
        ),
      },
      'terminalAgents.gemini': {
        type: 'boolean',
        markdownDescription: text(
          'settings.terminalAgents.gemini',
          'Controls whether Gemini CLI in a terminal can use the editor. Gemini CLI then sees your selection and open files, and shows the changes that it proposes in diff editors, where you accept or reject them. New integrated terminals connect automatically after you run `/ide enable` once. Has no effect in Restricted Mode or while the extension *Gemini CLI Companion* is enabled.',
        ),
      },
      workingDirectory: {
        type: 'string',
        enum: ['ask', 'activeEditor', 'first'],
        enumDescriptions: [
          text('settings.workingDirectory.ask', 'Ask for each new session.'),
          text(
            'settings.workingDirectory.activeEditor',
            'Use the folder of the file in the active editor, or the first folder.',
          ),
          text('settings.workingDirectory.first', 'Use the first folder.'),
        ],
        markdownDescription: text(
          'settings.workingDirectory',
          "Controls which folder of a multi-root workspace is a session's working directory. The other folders are passed as additional directories to agents that support them.",
        ),
      },
      'worktrees.folder': {
        type: 'string',
        markdownDescription: text(
          'settings.worktrees.folder',
          'Configures the folder for the Git worktrees of sessions: an absolute path, or one relative to the repository. `~` is your home folder. If empty, worktrees are next to the repository, in `<repository>.worktrees`.',
        ),
      },
      'worktrees.setupCommand': {
        type: 'string',
        markdownDescription: text(
          'settings.worktrees.setupCommand',
          'Configures a shell command that prepares each new worktree before its session starts, such as `npm ci`. If empty, nothing runs. Parley asks before it runs a command from the settings of a workspace.',
        ),
      },
      systemPrompt: {
        type: 'string',
        editPresentation: 'multilineText',
        markdownDescription: text(
          'settings.systemPrompt',
          'Configures additional instructions sent to agents at the start of each session. If empty, nothing is sent. Only applies to agents that support it.',
        ),
      },
      projectEnvironment: {
        type: 'boolean',
        markdownDescription: text(
          'settings.projectEnvironment',
          "Controls whether agents and their commands get the environment that direnv or mise gives the session's folder, as in a terminal. Only what you have allowed with `direnv allow` or `mise trust` is used. The Python environment that you selected for the folder with the Python extension is activated, too. Has no effect in Restricted Mode.",
        ),
      },
    },
  },
  {
    title: text('settings.group.conversation', 'Conversation'),
    settings: {
      addActiveContext: {
        type: 'boolean',
        markdownDescription: text(
          'settings.addActiveContext',
          'Controls whether the selection, or else the file of the active editor, is added to every prompt. The input shows what will be sent, and you can remove it. If disabled, the input offers to add it.',
        ),
      },
      sendKey: {
        type: 'string',
        enum: ['enter', 'ctrlEnter'],
        enumDescriptions: [
          text(
            'settings.sendKey.enter',
            'Enter sends, Shift+Enter inserts a line break. During a turn, Ctrl+Enter (Cmd+Enter on macOS) sends at once.',
          ),
          text(
            'settings.sendKey.ctrlEnter',
            'Ctrl+Enter (Cmd+Enter on macOS) sends, Enter inserts a line break. During a turn, Ctrl+Shift+Enter (Cmd+Shift+Enter) sends at once.',
          ),
        ],
        markdownDescription: text(
          'settings.sendKey',
          'Controls whether you press Enter or Ctrl+Enter (Cmd+Enter on macOS) to send a prompt.',
        ),
        keywords: ['parley', 'newline', 'line break', 'submit', 'shortcut'],
      },
      diffLayout: {
        type: 'string',
        enum: ['sideBySide', 'unified'],
        enumDescriptions: [
          text('settings.diffLayout.sideBySide', "Side by side if there's enough space, otherwise inline"),
          text('settings.diffLayout.unified', 'Always inline'),
        ],
        markdownDescription: text(
          'settings.diffLayout',
          "Controls how diffs are shown in conversations. Doesn't affect the diff editor.",
        ),
      },
      codeActions: {
        type: 'boolean',
        markdownDescription: text(
          'settings.codeActions',
          'Controls whether the editor offers *Fix with Parley* and *Explain with Parley* as code actions: for errors and warnings, and for selected code when you open the menu of code actions.',
        ),
      },
      sendCodeActions: {
        type: 'boolean',
        markdownDescription: text(
          'settings.sendCodeActions',
          'Controls whether *Fix with Parley* and *Explain with Parley* send their prompt immediately. If disabled, they add it to the input.',
        ),
      },
      sounds: {
        type: 'boolean',
        markdownDescription: text(
          'settings.sounds',
          "Controls whether a short notification sound is played when a turn ends or the agent needs your answer. It's played by the conversation, so it's silent until you have used one in this window.",
        ),
        keywords: ['parley', 'notifications', 'bell', 'alert', 'finished'],
      },
      lineComments: {
        type: 'boolean',
        markdownDescription: text(
          'settings.lineComments',
          'Controls whether editors and diffs show a `+` in the gutter to comment on lines for the agent. VS Code then marks every line in the gutter. If off, use *Add Comment for Agent*.',
        ),
      },
    },
  },
  {
    title: text('settings.group.changes', 'Changes'),
    settings: {
      'changes.codeLens': {
        type: 'boolean',
        markdownDescription: text(
          'settings.changes.codeLens',
          'Controls whether editors show *Keep*, *Revert*, *Show Old* and its position above every change of an agent. Diff editors show them, too, unless `#diffEditor.codeLens#` is off; Parley turns that on by default.',
        ),
      },
      'changes.sourceControl': {
        type: 'boolean',
        markdownDescription: text(
          'settings.changes.sourceControl',
          "Controls whether agents' changes are also listed in Source Control, marked in the gutter of editors, and marked with *P* in the Explorer and on tabs.",
        ),
      },
      agentLineHighlights: {
        type: 'boolean',
        markdownDescription: text(
          'settings.agentLineHighlights',
          'Controls whether open editors highlight the lines that an agent reads and edits, until its turn ends.',
        ),
      },
      'checkpoints.maximumAge': {
        type: 'number',
        minimum: 0,
        markdownDescription: text(
          'settings.checkpoints.maximumAge',
          'Limits how long checkpoints are kept, in days. Checkpoints of a file are deleted when no agent has changed the file for that long. `0` means no limit.',
        ),
      },
      'checkpoints.maximumSize': {
        type: 'number',
        minimum: 0,
        markdownDescription: text(
          'settings.checkpoints.maximumSize',
          'Limits the size of the checkpoints of a workspace, in megabytes. Beyond it, the checkpoints of the files that were changed longest ago are deleted, and the oldest reverts can no longer be undone. `0` means no limit.',
        ),
      },
    },
  },
  {
    title: text('settings.group.advanced', 'Advanced'),
    settings: {
      agentRegistry: {
        type: 'string',
        markdownDescription: text(
          'settings.agentRegistry',
          'Configures the URL of the registry that agents are installed from. The registry is read only when you look for agents or install one. The URL must start with `https://`. If empty, the registry is turned off.',
        ),
      },
      'history.maximumAge': {
        type: 'number',
        minimum: 0,
        markdownDescription: text(
          'settings.history.maximumAge',
          "Deletes saved conversations that had no activity for this number of days, except for open and pinned ones, and unsent text that closed windows left. Agents keep their own history. A jump of the clock doesn't count as time, and days without Parley count as at most three at a stretch. `0` means no limit.",
        ),
      },
      'history.maximumSize': {
        type: 'number',
        minimum: 0,
        markdownDescription: text(
          'settings.history.maximumSize',
          'Limits the size of all saved conversations, in megabytes. Beyond it, the oldest conversations are deleted, except for open and pinned ones. Agents keep their own history. `0` means no limit.',
        ),
      },
      protocol: {
        ...PROTOCOL,
        markdownDescription: text(
          'settings.protocol',
          'Controls the preferred version of the Agent Client Protocol. Takes effect the next time an agent starts.',
        ),
      },
      keepAgentsRunning: {
        type: 'string',
        enum: keepAgentsRunningChoices,
        enumDescriptions: [
          text('settings.keepAgentsRunning.off', 'Agents stop when their window closes or reloads.'),
          text(
            'settings.keepAgentsRunning.whileReloading',
            'Agents with a running turn keep running while their window reloads. All agents stop within one minute after it is closed.',
          ),
          text(
            'settings.keepAgentsRunning.untilDone',
            'Agents with a running turn keep running while their window reloads and after it is closed, until neither they nor their commands have sent anything for 30 minutes. Other agents stop within two minutes after it is closed.',
          ),
        ],
        markdownDescription: text(
          'settings.keepAgentsRunning',
          'Controls whether agents keep running when their window is reloaded or closed. Idle agents that can load or resume their sessions may stop with the window and start again in the next one. Unless this is `off`, agents run in a separate process. Run *Parley: Show Background Sessions* to view and stop these agents. After you change it from `off`, restart running agents.',
        ),
      },
      initializeTimeout: {
        type: 'number',
        minimum: 1,
        maximum: 600,
        markdownDescription: text(
          'settings.initializeTimeout',
          'Controls the time in seconds to wait for an agent to start.',
        ),
      },
      maximumFrameSize: {
        type: 'number',
        minimum: 1,
        maximum: 512,
        markdownDescription: text(
          'settings.maximumFrameSize',
          'Controls the maximum size in megabytes of a message from an agent. A larger message closes the connection.',
        ),
      },
    },
  },
]
