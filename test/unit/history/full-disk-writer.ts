/** Stores what its parent says, in a process of its own whose files may be limited in size. */
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { ChangesOnDisk } from '../../support/changes-on-disk.ts'

export type Command =
  | { do: 'open'; folder: string }
  | { do: 'save'; args: Parameters<ChangesOnDisk['save']> }
  | { do: 'saveUndone'; args: Parameters<ChangesOnDisk['saveUndone']> }
  | { do: 'addUndone'; args: Parameters<ChangesOnDisk['addUndone']> }
  | { do: 'openConversations'; file: string }
  | { do: 'write'; entries: Entry[]; replace: boolean }
  | { do: 'forget' }
  | { do: 'close' }

// otherwise it ends the process; the write fails like on a full disk
process.on('SIGXFSZ', () => {})

let store: ChangesOnDisk | undefined
let conversations: ConversationStorage | undefined

async function run(command: Command): Promise<void> {
  switch (command.do) {
    case 'open':
      store = new ChangesOnDisk(command.folder, { times: { collectAfter: 10 } })
      store.removeUnused({ inUse: () => new Set(), collected: () => {} })
      return
    case 'save':
      store?.save(...command.args)
      return store?.flushed()
    case 'saveUndone':
      return store?.saveUndone(...command.args)
    case 'addUndone':
      return store?.addUndone(...command.args)
    case 'openConversations':
      conversations = new ConversationStorage({ file: command.file })
      conversations.leases.acquire('a', 's')
      return
    case 'write': {
      const { entries, replace } = command
      const all = entries.map((entry, position) => ({ position, entry }))
      const changes = { replace, entries: replace ? all : all.slice(-1), terminals: [] }
      if (!conversations?.transcripts.write('a', 's', changes)) throw new Error('not written')
      return
    }
    case 'forget':
      if (!conversations?.transcripts.forget('a', 's')) throw new Error('not deleted')
      return
    case 'close':
      store?.dispose()
      conversations?.dispose()
  }
}

process.on('message', (command: Command) => {
  run(command).then(
    () => process.send?.('done'),
    (error: unknown) => process.send?.(String(error)),
  )
})
process.send?.('ready')
