export const isOver = (state: string | undefined) => state === 'done' || state === 'failed' || state === 'cancelled';
