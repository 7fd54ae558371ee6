import { messageText } from '../../conversation/entries/message.ts'
import type { ToolCallEntry } from '../../conversation/entries/tool-call.ts'
import { touchedFiles } from '../../conversation/entries/touched-files.ts'
import type { Entry } from '../../conversation/state.ts'
import { commandsOfInput } from '../../conversation/tool-command.ts'
import { windowsScriptOf } from '../../conversation/windows-script.ts'

/** The kinds of searchable text. Their numbers are stored. */
export const DocumentKind = { prompt: 1, answer: 2, tool: 3, file: 4 } as const
export type DocumentKind = (typeof DocumentKind)[keyof typeof DocumentKind]

/** A searchable text of an entry, which has at most one text of each kind. */
export interface SearchDocument {
  kind: DocumentKind
  text: string
}

/** The searchable texts of an entry: prompts, answers, titles of tools and subagents, commands, files; but neither output nor thoughts. */
export function documentsOf(entry: Entry): SearchDocument[] {
  const found = texts(entry).map(({ kind, text }) => ({ kind, text: text.trim() }))
  return found.filter(({ text }) => text !== '')
}

function texts(entry: Entry): SearchDocument[] {
  switch (entry.kind) {
    case 'message':
      if (entry.role === 'thought') return []
      return [
        { kind: entry.role === 'user' ? DocumentKind.prompt : DocumentKind.answer, text: messageText(entry) },
      ]
    case 'tool_call':
      return [
        { kind: DocumentKind.tool, text: titleAndCommands(entry) },
        { kind: DocumentKind.file, text: [...touchedFiles(entry)].join('\n') },
      ]
    case 'subagent':
      return [{ kind: DocumentKind.tool, text: [entry.title, entry.description].filter(Boolean).join('\n') }]
    default:
      return []
  }
}

function titleAndCommands({ title, toolName, rawInput }: ToolCallEntry): string {
  const name = title || (toolName ?? '')
  const commands = commandsOfInput(rawInput, windowsScriptOf).commands.filter(
    command => !name.includes(command),
  )
  return [name, ...commands].join('\n')
}
