// Accounts whose name holds the text, and the one that was looked up by its whole name.
export function found<A extends { name: string }>(items: A[], text: string, exact?: A): A[] {
  const part = text.trim().toLowerCase();
  const out = items.filter((a) => a.name.includes(part));
  if (exact && exact.name === part && !out.some((a) => a.name === exact.name)) out.unshift(exact);
  return out;
}
