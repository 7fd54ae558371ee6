/** The messages about permission rules between the extension host and a conversation's webview. */
import { NotificationType, RequestType } from 'vscode-jsonrpc'
import type { AppliedRule } from '../../conversation/state.ts'

/** A rule that would have answered a question. */
interface RuleOffer {
  /** what it fits, in words */
  label: string
  /** what saving it means, in a sentence */
  preview: string
  /** as it would stand in the settings */
  json: string
}
export interface RuleOffers {
  /** The narrowest first. */
  offers: RuleOffer[]
  /** There are workspace settings to write to. */
  workspace: boolean
}

/** Which rules could allow questions like this one; none when no rule may. */
export const OfferRules = new RequestType<{ key: string; requestId: string }, RuleOffers, void>(
  'conversation/offerRules',
)
/**
 * Saves the offer at that position, whose JSON the person saw, and allows the question that waits. Rejects with a sentence
 * when nothing was saved.
 */
export const SaveRule = new RequestType<
  { key: string; requestId: string; offer: number; json: string; target: 'user' | 'workspace' },
  void,
  void
>('conversation/saveRule')
/** Opens the rules of the settings that one stands in. */
export const OpenRules = new NotificationType<Pick<AppliedRule, 'scope' | 'folder'>>('conversation/openRules')
