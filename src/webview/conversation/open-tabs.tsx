import type { ConversationHead, TabNote } from '../../bridge/conversation.ts'
import { needsAnswerText } from '../../conversation/requests/pending-text.ts'
import { plural, t } from '../l10n.ts'
import { useApp } from './context.ts'

/** The conversations in editor tabs: a line each, which reveals the tab. */
export function OpenTabs({ tabs }: { tabs: NonNullable<ConversationHead['tabs']> }) {
  const { host } = useApp()
  return (
    <section class="open-tabs" aria-labelledby="open-tabs">
      <h2 id="open-tabs" class="empty-title">
        {t('In editor tabs')}
      </h2>
      <ul class="choices">
        {tabs.shown.map(tab => (
          <li key={tab.key}>
            <button
              type="button"
              class="choice"
              title={[tab.title, tab.agentName, stateText(tab)].filter(Boolean).join('\n')}
              onClick={() => host.send('conversation/revealTab', { key: tab.key })}
            >
              <span class={`dot dot-${tab.state}`} aria-hidden="true" />
              <span class="choice-text choice-name" dir="auto">
                {tab.title}
              </span>
              <span class="choice-end">{stateText(tab)}</span>
            </button>
          </li>
        ))}
      </ul>
      {tabs.more > 0 && (
        <button
          type="button"
          class="link-button"
          onClick={() => host.send('conversation/command', { command: 'parley.openSession' })}
        >
          {plural(tabs.more, '1 more session…', '{0} more sessions…')}
        </button>
      )}
    </section>
  )
}

function stateText({ state }: TabNote): string {
  switch (state) {
    case 'idle':
      return t('Ready')
    case 'running':
      return t('Running')
    case 'waiting':
      return needsAnswerText(t)
    case 'done':
      return t('Done')
    case 'failed':
      return t('Failed')
  }
}
