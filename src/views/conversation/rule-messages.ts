import * as l10n from '@vscode/l10n'
import type { PermissionRequest } from '../../acp/model.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { RuleConsent } from '../../sessions/permission-rules/consent.ts'
import { optionFor } from '../../sessions/permission-rules/option.ts'
import type { PermissionRules } from '../../sessions/permission-rules/permission-rules.ts'
import type { RuleSuggestion } from '../../sessions/permission-rules/suggest.ts'
import * as incoming from '../bridge/incoming-permissions.ts'
import * as bridge from '../bridge/permissions.ts'
import type { RuleSettings } from '../rule-settings.ts'
import type { WebviewConnection } from '../webview-connection.ts'

export interface RuleMessagesParts {
  rules: Pick<PermissionRules, 'suggest'>
  consent: Pick<RuleConsent, 'accept'>
  settings: RuleSettings
}

/** Answers what a conversation's webview asks about permission rules. */
export function listenForRules(
  connection: WebviewConnection,
  controller: ConversationController,
  { rules, consent, settings }: RuleMessagesParts,
): void {
  const suggest = async (key: string, requestId: string) => {
    const open = key === controller.key ? controller.current : undefined
    const asked = open?.session.permission(requestId)
    if (!open || !asked) return undefined
    const { request, tool } = asked
    return { open, request, suggestions: await offered(rules, open, request, tool) }
  }
  connection.onRequest(bridge.OfferRules, incoming.offerRules, async ({ key, requestId }) => ({
    offers: ((await suggest(key, requestId))?.suggestions ?? []).map(({ text, rule }) => ({
      text,
      json: jsonOf(rule),
    })),
    workspace: settings.hasWorkspace,
  }))
  connection.onRequest(
    bridge.SaveRule,
    incoming.saveRule,
    async ({ key, requestId, offer, json, target }) => {
      const found = await suggest(key, requestId)
      const suggestion = found?.suggestions[offer]
      // the agent may have changed the tool call since: only what the person saw is saved
      if (!found || !suggestion || jsonOf(suggestion.rule) !== json) {
        throw new Error(l10n.t('The question has changed meanwhile. No rule was saved.'))
      }
      consent.accept([suggestion.rule])
      await settings.add(suggestion.rule, target)
      const option = optionFor('allow', found.request.options)
      if (option) found.open.session.answerPermission(requestId, option.optionId)
    },
  )
  connection.onNotification(bridge.OpenRules, incoming.openRules, place => settings.open(place))
}

function offered(
  rules: Pick<PermissionRules, 'suggest'>,
  open: NonNullable<ConversationController['current']>,
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
): Promise<RuleSuggestion[]> {
  return rules.suggest(open.agentId, open.plan.setup, request, tool)
}

function jsonOf(rule: object): string {
  return JSON.stringify(rule, undefined, 2)
}
