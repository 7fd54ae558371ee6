export const cacheDirectory: string
