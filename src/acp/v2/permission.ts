import * as z from 'zod'
import type { PermissionRequest, PermissionSubject } from '../model.ts'
import { given } from '../wire/content.ts'
import { anything, isRecord, maybeText, type Report } from '../wire/lenient.ts'
import { readPermissionOptions } from '../wire/requests.ts'
import { readToolCall } from '../wire/tool-call.ts'

/** `toolCall` is where v1, and an early draft of v2, had what it is about. */
export const permissionSchema = z.object({
  sessionId: z.string(),
  title: maybeText,
  description: maybeText,
  subject: anything,
  toolCall: anything,
  options: anything,
})
export const commandSubjectSchema = z.object({
  command: z.string(),
  cwd: maybeText,
  toolCallId: maybeText,
  terminalId: maybeText,
})

/** `title` is empty when the agent did not send one: what it told of the tool call before may have it. */
export function readPermission(wire: z.output<typeof permissionSchema>, report: Report): PermissionRequest {
  const subject = readSubject(wire, report)
  const title = wire.title ?? (subject.type === 'tool_call' ? subject.toolCall.title : undefined)
  return {
    sessionId: wire.sessionId,
    title: title ?? '',
    ...given('description', wire.description),
    subject,
    options: readPermissionOptions(wire.options, report),
  }
}

function readSubject(wire: z.output<typeof permissionSchema>, report: Report): PermissionSubject {
  const { subject: raw, toolCall } = wire
  if (!isRecord(raw)) {
    const patch = isRecord(toolCall) ? readToolCall(toolCall, report) : undefined
    return patch ? { type: 'tool_call', toolCall: patch } : { type: 'none' }
  }
  if (raw.type === 'tool_call') {
    const patch = readToolCall(raw.toolCall, report, 'clear')
    if (patch) return { type: 'tool_call', toolCall: patch }
  }
  if (raw.type === 'command') {
    const subject = commandSubjectSchema.safeParse(raw).data
    if (subject) {
      return {
        type: 'command',
        command: subject.command,
        ...given('cwd', subject.cwd),
        ...given('toolCallId', subject.toolCallId),
        ...given('terminalId', subject.terminalId),
      }
    }
  }
  return { type: 'unknown', kind: typeof raw.type === 'string' ? raw.type : '', raw }
}
