import type { ConversationHead } from '../../views/bridge/conversation.ts'
import { t } from '../l10n.ts'
import { Choice } from '../ui/choice.tsx'
import { AgentIcon, Icon } from '../ui/icon.tsx'
import { useApp } from './context.ts'

/** A session in which nothing was said yet: who is there, where it works, and ways to begin. */
export function Begin({ head }: { head: ConversationHead }) {
  const { host, composer } = useApp()
  const { agent, roots, commands } = head
  // `/memory` stands for `/memory show` and whatever else begins with it
  const names = [...new Set(commands.map(command => command.name.split(' ', 1)[0]))].slice(0, 6)
  return (
    <div class="empty begin">
      <div class="empty-content">
        <section aria-labelledby="begin-agent">
          <h2 id="begin-agent" class="begin-agent">
            <AgentIcon icon={agent?.icon} />
            <span dir="auto">{agent?.name}</span>
          </h2>
          {roots && (
            <p class="quiet" title={roots.cwd}>
              {roots.scratch
                ? t('No folder is open. The agent works in a private scratch folder.')
                : t('Working directory: {0}', roots.cwdLabel)}
            </p>
          )}
          <ul class="choices">
            <Choice
              icon={<Icon name="mention" />}
              name={t('Add Context')}
              about={t('Type @ to add files, symbols and changes')}
              onClick={() => composer.current?.type('@')}
            />
            {names.length > 0 && (
              <Choice
                icon={<Icon name="symbol-event" />}
                name={t('Use Slash Commands')}
                about={names.map(name => `/${name}`).join('  ')}
                onClick={() => composer.current?.type('/')}
              />
            )}
            <Choice
              icon={<Icon name="history" />}
              name={t('Open Session History')}
              about={t('Load or resume a session')}
              onClick={() => host.send('conversation/command', { command: 'parley.openHistory' })}
            />
          </ul>
        </section>
      </div>
    </div>
  )
}
