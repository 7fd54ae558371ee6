import * as l10n from '@vscode/l10n'
import type { PermissionRequest } from '../../acp/model.ts'
import type { Handlers } from '../../bridge/contract.ts'
import type { ConversationMessages } from '../../bridge/conversation-messages.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import {
  optionFor,
  type PermissionRules,
  type RuleConsent,
} from '../../sessions/permission-rules/permission-rules.ts'
import { ruleText } from '../../sessions/permission-rules/rule.ts'
import type { RuleSuggestion } from '../../sessions/permission-rules/suggest.ts'
import { addRule, type RuleSettings } from '../rule-settings.ts'
import type { Dialogs } from '../workbench.ts'
import { allowInSession } from './allow-in-session.ts'

export interface RuleHandlersOptions {
  rules: Pick<PermissionRules, 'suggest' | 'allowances' | 'onDidChange'>
  consent: Pick<RuleConsent, 'accept'>
  settings: RuleSettings
  /** Whether a folder is open, so that a rule can be saved in its settings. */
  hasWorkspace: () => boolean
  dialogs: Pick<Dialogs, 'confirm' | 'pick'>
}

/** Returns the handlers for a conversation's requests about permission rules. */
export function ruleHandlers(
  controller: ConversationController,
  { rules, consent, settings, hasWorkspace, dialogs }: RuleHandlersOptions,
) {
  const suggest = async (key: string, requestId: string) => {
    const open = controller.shownAs(key)
    const asked = open?.session.requests.permission(requestId)
    if (!open || !asked) return undefined
    const { request, tool } = asked
    return { open, request, suggestions: await offered(rules, open, request, tool) }
  }
  const offersFor = async (key: string, requestId: string) => {
    const found = await suggest(key, requestId)
    return (found?.suggestions ?? []).map(({ rule }) => {
      const label = ruleText(rule)
      const preview = l10n.t('{0} may do this without asking.', found?.open.agentName ?? '')
      const isOfWorkspace = hasWorkspace() && rule.path !== undefined && rule.path !== '**'
      return { label, preview, json: jsonOf(rule), ...(isOfWorkspace && { isOfWorkspace }) }
    })
  }
  return {
    'conversation/offerRules': async ({ key, requestId }) => ({
      offers: await offersFor(key, requestId),
      workspace: hasWorkspace(),
    }),
    'conversation/saveRule': async ({ key, requestId, offer, json, target }) => {
      const found = await suggest(key, requestId)
      const suggestion = found?.suggestions[offer]
      // the agent may have changed the tool call in the meantime, and only the rule that the user saw is saved
      if (!found || !suggestion || jsonOf(suggestion.rule) !== json) {
        throw new Error(l10n.t('The request has changed. No rule was saved.'))
      }
      await addRule(suggestion.rule, target === 'session' ? found.open.allowance : target, {
        consent,
        settings,
      })
      const option = optionFor('allow', found.request.options)
      if (option) found.open.session.requests.answerPermission(requestId, option.optionId)
    },
    'conversation/allow': async ({ key, allowed }) => {
      const open = controller.shownAs(key)
      if (open && controller.phase === 'ready') await allowInSession(open, allowed, { rules, dialogs })
    },
    'conversation/openRule': rule => settings.open(rule),
  } satisfies Partial<Handlers<ConversationMessages>>
}

function offered(
  rules: Pick<PermissionRules, 'suggest'>,
  open: NonNullable<ConversationController['current']>,
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
): Promise<RuleSuggestion[]> {
  return rules.suggest(open.agentId, open.placeOf(request.sessionId), request, tool)
}

function jsonOf(rule: object): string {
  return JSON.stringify(rule, undefined, 2)
}
