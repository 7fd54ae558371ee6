import type { MessageConnection } from 'vscode-jsonrpc/browser'
import type { AppliedRule } from '../../conversation/state.ts'
import { OfferRules, OpenRules, type RuleOffers, SaveRule } from '../../views/bridge/permissions.ts'

/** What the view asks of its host about permission rules. */
export interface RulesHost {
  /** Rules that would allow questions like this one. */
  offerRules(requestId: string): Promise<RuleOffers>
  /** Saves the offer at that position, whose JSON was shown, and allows the question. */
  saveRule(requestId: string, offer: number, json: string, target: 'user' | 'workspace'): Promise<void>
  /** Opens the settings that a rule stands in. */
  openRules(rule: Pick<AppliedRule, 'scope' | 'folder'>): void
}

export function rulesHost(connection: MessageConnection, key: () => string): RulesHost {
  return {
    offerRules: requestId => connection.sendRequest(OfferRules, { key: key(), requestId }),
    saveRule: (requestId, offer, json, target) =>
      connection.sendRequest(SaveRule, { key: key(), requestId, offer, json, target }),
    openRules: ({ scope, folder }) => void connection.sendNotification(OpenRules, { scope, folder }),
  }
}
