import type { PermissionOption } from '../../../acp/model.ts'
import { visibleProse } from '../../../common/visible.ts'
import { type McpToolCall, mcpToolCall } from '../../../conversation/mcp-tool-call.ts'
import { chosenOption } from '../../../conversation/permission-outcome.ts'
import { optionHint, optionName, outcomeAside } from '../../../conversation/requests/permission-text.ts'
import type { AppliedRule, PermissionEntry, ToolCallEntry } from '../../../conversation/state.ts'
import { commandOf } from '../../../conversation/tool-command.ts'
import { t } from '../../l10n.ts'
import { filesOf, type PathRoots, titleParts } from '../../tools/title.ts'
import { Icon } from '../../ui/icon.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import { permissionOf, refusalOf } from '../tool-permissions.ts'

/** The question of a permission request and its answer. */
export function Decision({ entry, tool }: { entry: PermissionEntry; tool: ToolCallEntry | undefined }) {
  const { store } = useApp()
  const chosen = chosenOption(entry)
  if (entry.rule) return <RuleLine rule={entry.rule} />
  return (
    <>
      <div dir="auto">{questionTitle(entry, tool, store.head.value?.roots)}</div>
      {chosen && !entry.isChoice && (
        <div class="quiet" dir="auto">
          {t('Your answer: {0}', optionTitle(chosen))}
        </div>
      )}
    </>
  )
}

/** The answer to a tool call's permission request, after the tool call's title. Only an icon in a narrow view. */
export function AnswerAside({ call }: { call: EntrySlot }) {
  const { store } = useApp()
  const entry = permissionOf(call)
  if (!entry?.outcome) return null
  const isCanceled = entry.outcome.type === 'cancelled'
  // the end of the turn already says that the request was canceled
  if (isCanceled && store.isStopped(entry)) return null
  const answer = answerAside(entry, isCanceled)
  return (
    <span class={`line-answer${entry.rule ? ' ruled' : ''}`} title={answer}>
      <Icon name={refusalOf(call) ? 'circle-slash' : entry.rule ? 'shield' : 'pass'} />
      <span class="line-answer-text">{answer}</span>
    </span>
  )
}

function answerAside(entry: PermissionEntry, isCanceled: boolean): string {
  if (entry.rule?.accepts) return t('allowed for this session')
  if (entry.rule)
    return entry.rule.action === 'allow' ? t('allowed by your rule') : t('rejected by your rule')
  if (isCanceled) return t('canceled')
  const chosen = chosenOption(entry)
  if (!chosen) return t('answered')
  return entry.isChoice ? optionName(chosen, t) : outcomeAside(chosen.kind, t)
}

/** The permission requests of a tool call and their answers, in the tool call's details. */
export function Decisions({ call, tool }: { call: EntrySlot; tool: ToolCallEntry }) {
  return (
    <>
      {call.permissions.value.map(slot => {
        const entry = slot.entry.value as PermissionEntry
        if (!entry.outcome || (entry.outcome.type === 'cancelled' && !entry.rule)) return null
        return (
          <div key={slot.id} class="decision">
            <Decision entry={entry} tool={tool} />
            {entry.command && entry.command.command !== commandOf(tool)?.command && (
              <PlainCode text={entry.command.command} wrap whole />
            )}
          </div>
        )
      })}
    </>
  )
}

export function optionTitle(option: PermissionOption): string {
  const hint = optionHint(option, t)
  const name = optionName(option, t)
  return hint === undefined ? name : t('{0} ({1})', name, hint)
}

/** Returns the MCP server's tool that a request is about, if neither the request nor its tool call has a title for the user. */
export function askedTool(entry: PermissionEntry, tool: ToolCallEntry | undefined): McpToolCall | undefined {
  const own = entry.title.trim()
  const title = own === '' ? (tool?.title ?? '') : own
  return mcpToolCall({ title, toolName: tool?.toolName, rawInput: tool?.rawInput })
}

export function questionTitle(
  entry: PermissionEntry,
  tool: ToolCallEntry | undefined,
  roots: PathRoots | undefined,
): string {
  const called = askedTool(entry, tool)
  if (called) return useOf(called)
  const own = entry.title.trim()
  const { head, full } = titleParts(own, roots)
  // a path alone isn't a question, even if it's only a name relative to the session's folder
  const isPath = (head !== '' || full !== visibleProse(own)) && !/\s/.test(full)
  if (own !== '' && own !== tool?.title.trim() && !(isPath && tool)) return visibleProse(own)
  if (entry.command) return t('Allow running this command?')
  // tools of MCP servers that only read have no file
  const reads = tool?.toolKind === 'read' || tool?.toolKind === 'search' || tool?.toolKind === 'other'
  if (reads && tool.toolName && filesOf(tool).length === 0) {
    const named = mcpToolCall({ title: tool.toolName })
    return named ? useOf(named) : t('Allow using {0}?', visibleProse(tool.toolName))
  }
  switch (tool?.toolKind) {
    case 'execute':
      return t('Allow running this command?')
    case 'edit':
      return t('Allow this edit?')
    case 'delete':
      return t('Allow deleting this?')
    case 'move':
      return t('Allow moving this?')
    case 'read':
    case 'search':
      return t('Allow reading this?')
    case 'fetch':
      return t('Allow fetching this?')
    case 'switch_mode':
      return t('Allow switching modes?')
    default:
      return t('Allow this?')
  }
}

function useOf({ tool, server }: McpToolCall): string {
  return visibleProse(t('Allow using {0} of {1}?', tool, server))
}

export function ruleAnswer(rule: AppliedRule | undefined): string | undefined {
  if (!rule) return undefined
  if (rule.accepts) return t('Allowed for this session')
  return rule.action === 'allow' ? t('Allowed by your rule') : t('Rejected by your rule')
}

/** The rule that answered the request, with a link to it. */
function RuleLine({ rule }: { rule: AppliedRule }) {
  const { host, store, composer } = useApp()
  const { scope, folder, action, text } = rule
  return (
    <div class="answered-rule">
      <span>{ruleAnswer(rule)}</span>
      {rule.accepts ? <span class="quiet">{rule.text}</span> : <code dir="ltr">{rule.text}</code>}
      {rule.accepts && store.head.value?.allowance && (
        <button type="button" class="link-button" onClick={() => composer.current?.showAllowance()}>
          {t('Change…')}
        </button>
      )}
      {scope === 'session' && !rule.accepts && (
        <button
          type="button"
          class="link-button"
          onClick={() => host.send('conversation/command', { command: 'parley.managePermissionRules' })}
        >
          {t('Manage Permission Rules')}
        </button>
      )}
      {scope !== 'session' && (
        <button
          type="button"
          class="link-button"
          onClick={() => host.send('conversation/openRule', { scope, folder, action, text })}
        >
          {scope === 'user' ? t('Open User Settings') : t('Open Workspace Settings')}
        </button>
      )}
    </div>
  )
}
