import { DisposableStore } from '../common/disposable.ts'
import { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { Platform } from './platform.ts'
import { createProcessScope } from './process-scope.ts'
import { createWindowScope } from './window-scope.ts'

export type AppServices = ReturnType<typeof createAppServices>

/** Creates everything that doesn't need VS Code itself, scope by scope. Each is disposed as one, the window's first. */
export function createAppServices(platform: Platform, own: DisposableStore) {
  const surfaces = new ConversationSurfaces()
  const process = createProcessScope(platform, surfaces, own.add(new DisposableStore()))
  const window = createWindowScope(platform, surfaces, process, own.add(new DisposableStore()))
  // Disposed first, in reverse order: nothing that ends with the window may reach an agent that continues.
  own.add(process.hosted)
  return { ...process, ...window }
}
