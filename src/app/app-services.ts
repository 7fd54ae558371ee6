import { DisposableStore } from '../common/disposable.ts'
import { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { Platform } from './platform.ts'
import { createProcessScope, type ProcessScope } from './process-scope.ts'
import { createSessionWindow } from './session-window.ts'
import { createSessionsScope } from './sessions-scope.ts'
import { createWindowScope } from './window-scope.ts'
import { createWindowViews } from './window-views.ts'

export type AppServices = ReturnType<typeof createAppServices>

/** Creates all services that don't need VS Code's API, scope by scope. Each scope is disposed as a whole, the last one first. */
export function createAppServices(platform: Platform, own: DisposableStore) {
  const { fileInExtension, log, secrets, storage } = platform
  const shared = { fileInExtension, log, secrets, globalFolder: storage.globalFolder }
  const process = createProcessScope(shared, own.add(new DisposableStore()))
  return createWindowServices(platform, process, own)
}

/** Creates the services of a window, its sessions and its views. Windows of the same process share only `process`. */
export function createWindowServices(platform: Platform, process: ProcessScope, own: DisposableStore) {
  const surfaces = new ConversationSurfaces()
  const scope = () => own.add(new DisposableStore())
  own.add(process.processWindows.add(platform.workbench))
  const served = createSessionWindow(platform, surfaces, process, scope())
  const sessions = createSessionsScope(process, served, scope())
  const shared = { ...process, ...served, ...sessions }
  const window = { ...shared, ...createWindowScope(platform, surfaces, shared, scope()) }
  const views = createWindowViews(platform, window, scope())
  // Disposed first, in reverse order: nothing that ends with the window may reach an agent that continues.
  own.add(sessions.hosted)
  return { ...window, ...views }
}
