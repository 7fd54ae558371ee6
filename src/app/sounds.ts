import { Owner } from '../common/disposable.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { watchSessions } from '../sessions/watch-sessions.ts'
import type { ConversationSurface } from './conversation/conversation-surface.ts'
import { settingOf, type WindowState } from './workbench.ts'

interface SoundOptions {
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  workbench: Pick<WindowState, 'settingValues'>
  surfaces: {
    showing(open: OpenSession): Pick<ConversationSurface, 'sendToPage'> | undefined
    readonly active: Pick<ConversationSurface, 'sendToPage'>
  }
}

/** Plays a sound when a turn ends or waits for the user, if the user turned sounds on. A page plays the sound, since VS Code can't. */
export class Sounds extends Owner {
  constructor({ manager, workbench, surfaces }: SoundOptions) {
    super()
    this.register(
      watchSessions(manager, open => {
        const { session } = open
        let before = session.state.activity
        return session.onDidChange(() => {
          const { activity } = session.state
          if (activity === before) return
          // the end of a replay isn't worth a sound
          const isOver = activity === 'idle' && session.phase === 'ready'
          before = activity
          if ((!isOver && activity !== 'requires_action') || !settingOf(workbench, 'sounds')) return
          const surface = surfaces.showing(open) ?? surfaces.active
          surface.sendToPage('view/sound', { kind: isOver ? 'done' : 'waiting' })
        })
      }),
    )
  }
}
