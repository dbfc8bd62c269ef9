/** What is pressed: with a frame, or as a word of a text. */
import type { ComponentProps } from "react";

interface LinkProps extends ComponentProps<"button"> {
  /** In addition to those of its kind. */
  readonly className?: string;
}

interface ButtonProps extends LinkProps {
  /** Without a frame, for what is seldom wanted. */
  readonly quiet?: boolean;
  /** Of one picture, without words. */
  readonly icon?: boolean;
}

export function Button({ quiet, icon, className, ...rest }: ButtonProps) {
  const classes = ["button", quiet && "quiet", icon && "icon", className].filter(Boolean);
  return <button type="button" className={classes.join(" ")} {...rest} />;
}

export function Link({ className, ...rest }: LinkProps) {
  return <button type="button" className={className ? `link ${className}` : "link"} {...rest} />;
}
