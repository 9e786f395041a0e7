/** What a post has besides its text: a title, a type and a tier. */
import { type ReactNode, useId } from 'react';

export interface Post {
  readonly title: string;
  readonly type: string;
  readonly tier: '' | '0' | '1' | '2';
}

export const NO_POST: Post = { title: '', type: '', tier: '' };
const TITLE_CHARS_MAX = 256;
const TYPE_CHARS_MAX = 64;
const TIERS: readonly (readonly [Post['tier'], string])[] = [
  ['', 'no tier'],
  ['0', 'tier 0'],
  ['1', 'tier 1'],
  ['2', 'tier 2'],
];

/** What nobody filled in is left out. */
export function postBody({ title, type, tier }: Post, text: string): Record<string, unknown> {
  return {
    kind: 'post',
    title: title.trim(),
    ...(type.trim() !== '' && { type: type.trim() }),
    ...(tier !== '' && { tier: Number(tier) }),
    text,
  };
}

interface PostFieldsProps {
  readonly post: Post;
  readonly types: readonly string[];
  onChange(post: Post): void;
}

export function PostFields({ post, types, onChange }: PostFieldsProps): ReactNode {
  const id = useId();
  return (
    <div className="post-fields">
      <input
        className="field"
        aria-label="Title of the post"
        placeholder="Title"
        required
        maxLength={TITLE_CHARS_MAX}
        value={post.title}
        onChange={(event) => onChange({ ...post, title: event.target.value })}
      />
      <input
        className="field"
        aria-label="Type of the post, if it has one"
        placeholder="Type"
        list={id}
        maxLength={TYPE_CHARS_MAX}
        value={post.type}
        onChange={(event) => onChange({ ...post, type: event.target.value })}
      />
      <datalist id={id}>
        {types.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <select
        className="field"
        aria-label="Tier of the post"
        value={post.tier}
        onChange={(event) => onChange({ ...post, tier: event.target.value as Post['tier'] })}
      >
        {TIERS.map(([tier, words]) => (
          <option key={tier} value={tier}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}
